// What the arguments of the quantization must be before any kernel sees them; host arithmetic only.
#pragma once

#include "../api.h"

namespace mezzotint {

// A caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztQuantizeArgs& args);

// Well formed, but not for any kernel of ours (strides, alignment, sizes): MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztQuantizeArgs& args);

}  // namespace mezzotint
