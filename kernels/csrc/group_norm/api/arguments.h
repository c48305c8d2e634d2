// Validation of GroupNorm's arguments before any kernel sees them; host arithmetic only.
#pragma once

#include "../../group_norm_api.h"

namespace mezzotint {

// Find a caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztGroupNormArgs& args);

// Find a caller's mistake in what only a launch needs: pointers, strides, workspace.
MztStatus find_launch_mistake(const MztGroupNormArgs& args);

// Find valid arguments that no kernel supports: MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztGroupNormArgs& args);
MztStatus find_unaligned(const MztGroupNormArgs& args);

}  // namespace mezzotint
