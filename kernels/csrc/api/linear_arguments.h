// Validation of the linear layer's arguments before any kernel sees them; host arithmetic only.
#pragma once

#include "../api.h"

namespace mezzotint {

// Find a caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztLinearArgs& args);

// Find valid arguments that no kernel supports (strides, alignment, sizes): MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztLinearArgs& args);

// Whether there is nothing to write.
bool is_empty(const MztLinearArgs& args);

}  // namespace mezzotint
