// What the C ABI asks of the kernels that quantize rows; arguments are checked before they come here.
#pragma once

#include "../api.h"

namespace mezzotint {

// Of a row: what a block can hold.
constexpr int64_t kMostQuantizedColumns = 16384;

// Queue the kernel; returns a cudaError_t (0: queued).
int launch_quantize(const MztQuantizeArgs& args, void* stream);

}  // namespace mezzotint
