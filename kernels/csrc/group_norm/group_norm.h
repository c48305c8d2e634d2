// What the C ABI asks of the kernels of GroupNorm; arguments are checked before they come here.
#pragma once

#include "../group_norm_api.h"

namespace mezzotint {

// Queue the three passes; returns a cudaError_t (0: queued).
int launch_group_norm(const MztGroupNormArgs& args, void* stream);

}  // namespace mezzotint
