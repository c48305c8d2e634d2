// Queueing the quantization: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include "blocks.h"
#include "rows.h"

namespace mezzotint {

int launch_quantize(const MztQuantizeArgs& args, void* stream) {
    quantize::QuantizeParams params = quantize::quantize_params(args);
    void* arguments[] = {&params};
    return cudaLaunchKernel(quantize::entry_of(args),
                            dim3(static_cast<unsigned>(quantize::blocks_of(params))),
                            dim3(static_cast<unsigned>(quantize::threads_of(params))), arguments,
                            quantize::shared_bytes_of(args), static_cast<cudaStream_t>(stream));
}

}  // namespace mezzotint
