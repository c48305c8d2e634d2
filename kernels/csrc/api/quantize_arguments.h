// Validation of the quantization's arguments before any kernel sees them; host arithmetic only.
#pragma once

#include "../api.h"

namespace mezzotint {

// Find a caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztQuantizeArgs& args);

// Find valid arguments that no kernel supports (strides, alignment, sizes): MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztQuantizeArgs& args);

}  // namespace mezzotint
