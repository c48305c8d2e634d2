// What the C ABI asks of the attention kernels; arguments are checked before they come here.
#pragma once

#include "../api.h"

namespace mezzotint {

// What a choice of kernel depends on; a plain struct, so that choices can be tested for cards that are not present.
struct DeviceFacts {
    int architecture;     // 75, 80, 86, 89, 90, 100, 120: of the machine code that the driver will load
    int multiprocessors;
    int shared_bytes;     // that one block may use
};

// Fill `plan` for arguments on a device; host arithmetic only.
void plan_attention(const MztAttentionArgs& args, const DeviceFacts& device, MztAttentionPlan& plan);

// Queue the planned kernel; returns a cudaError_t (0: queued).
int launch_attention(const MztAttentionArgs& args, const MztAttentionPlan& plan, void* stream);

}  // namespace mezzotint
