// What the arguments of the integer product must be before any kernel sees them; host arithmetic only.
#pragma once

#include "../api.h"

namespace mezzotint {

// A caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztLinearArgs& args);

// Well formed, but not for any kernel of ours (strides, alignment, sizes): MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztLinearArgs& args);

// Whether there is nothing to write.
bool is_empty(const MztLinearArgs& args);

}  // namespace mezzotint
