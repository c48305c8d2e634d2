// Validation of the backward pass's arguments before any kernel sees them; host arithmetic only.
#pragma once

#include "../backward_api.h"
#include "attention_arguments.h"

namespace mezzotint {

// What forward and backward have in common, as the forward's arguments.
MztAttentionArgs as_forward(const MztAttentionBackwardArgs& args);

// Find a caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztAttentionBackwardArgs& args, Purpose purpose);

// Find valid arguments that no kernel supports (strides, alignment, sizes, scale): MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztAttentionBackwardArgs& args);

// Whether there is nothing to compute and nothing to write.
bool is_empty(const MztAttentionBackwardArgs& args);

}  // namespace mezzotint
