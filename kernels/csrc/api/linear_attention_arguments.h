// Validation of linear attention's arguments before any kernel sees them; host arithmetic only.
#pragma once

#include "../linear_attention_api.h"
#include "attention_arguments.h"

namespace mezzotint {

// What it has in common with attention, as attention's arguments.
MztAttentionArgs as_forward(const MztLinearAttentionArgs& args);

// Find a caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztLinearAttentionArgs& args, Purpose purpose);

// Find valid arguments that no kernel supports (strides, alignment, sizes): MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztLinearAttentionArgs& args);

// Whether there is nothing to compute and nothing to write.
bool is_empty(const MztLinearAttentionArgs& args);

}  // namespace mezzotint
