// What the C ABI asks of the kernels of linear attention; arguments are checked before they come here.
#pragma once

#include "../attention/attention.h"
#include "../linear_attention_api.h"

namespace mezzotint {

// Fill `plan` for arguments on a device; host arithmetic only. Its kernel is the number of splits of the tokens.
void plan_linear_attention(const MztLinearAttentionArgs& args, const DeviceFacts& device, MztAttentionPlan& plan);

// Queue the three passes; returns a cudaError_t (0: queued).
int launch_linear_attention(const MztLinearAttentionArgs& args, const MztAttentionPlan& plan, void* stream);

}  // namespace mezzotint
