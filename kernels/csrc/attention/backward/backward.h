// What the C ABI asks of the backward kernels; arguments are checked before they come here.
#pragma once

#include "../../backward_api.h"
#include "../attention.h"

namespace mezzotint {

struct BackwardPlan {
    bool supported;
    uint32_t kernel;
    int32_t splits;  // of the keys: blocks of a head that work at the same time
    int64_t workspace_bytes;
    char text[240];
};

// Plan for arguments on a device; host arithmetic only.
BackwardPlan plan_backward(const MztAttentionBackwardArgs& args, const DeviceFacts& device);

// Queue the three passes; returns a cudaError_t (0: queued).
int launch_backward(const MztAttentionBackwardArgs& args, const BackwardPlan& plan, void* stream);

}  // namespace mezzotint
