// What the C ABI asks of the kernels of block-scaled products; arguments are checked before they come here.
#pragma once

#include "../../block_scaled_api.h"
#include "../gemm.h"

namespace mezzotint {

// Fill `plan` for arguments on a device that has code for block-scaled products; host arithmetic only.
void plan_block_scaled_linear(const MztBlockScaledLinearArgs& args, const DeviceFacts& device, LinearPlan& plan);

// Queue the planned kernel; returns a cudaError_t (0: queued).
int launch_block_scaled_linear(const MztBlockScaledLinearArgs& args, const LinearPlan& plan, void* stream);

}  // namespace mezzotint
