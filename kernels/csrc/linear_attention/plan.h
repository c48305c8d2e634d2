// In how many splits the tokens are summed, and where the workspace's parts lie; host arithmetic only.
#pragma once

#include "../attention/attention.h"
#include "../linear_attention_api.h"
#include "params.h"

namespace mezzotint::linear_attention {

// The splits of the tokens: enough blocks for the device, and enough tokens for each.
int32_t splits_for(const MztLinearAttentionArgs& args, const DeviceFacts& device);

int64_t workspace_bytes(const MztLinearAttentionArgs& args, int32_t splits);

// Parameters over args.workspace.
LinearAttentionParams params_of(const MztLinearAttentionArgs& args, int32_t splits);

// Blocks of the three passes.
int64_t summarize_blocks(const MztLinearAttentionArgs& args, int32_t splits);
int64_t join_blocks(const MztLinearAttentionArgs& args);
int64_t apply_blocks(const MztLinearAttentionArgs& args);

}  // namespace mezzotint::linear_attention
