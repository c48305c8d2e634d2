// Queueing the quantization: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include "../blocks.h"
#include "rows.h"

namespace mezzotint {

int launch_block_scaled_quantize(const MztBlockScaledQuantizeArgs& args, void* stream) {
    quantize::QuantizeParams params = quantize::block_scaled_quantize_params(args);
    void* arguments[] = {&params};
    return cudaLaunchKernel(quantize::block_scaled_entry_of(args.rows.dtype, args.rows.preparation, args.format),
                            dim3(static_cast<unsigned>(quantize::blocks_of(params))),
                            dim3(static_cast<unsigned>(quantize::threads_of(params))), arguments,
                            quantize::kSharedBytes, static_cast<cudaStream_t>(stream));
}

}  // namespace mezzotint
