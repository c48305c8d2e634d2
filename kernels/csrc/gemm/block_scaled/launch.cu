// Queueing a planned product: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include "../../shared_memory.h"
#include "../choose.h"
#include "choose.h"

namespace mezzotint {

constexpr int kMostInstances = 32;

int launch_block_scaled_linear(const MztBlockScaledLinearArgs& args, const LinearPlan& plan, void* stream) {
    const block_scaled::Instance* instance = block_scaled::instance_of(plan.kernel);
    if (!instance) return cudaErrorInvalidDeviceFunction;
    const gemm::Entry entry = instance->tile.entry;
    static SharedMemory<kMostInstances> shared_memory;
    if (const cudaError_t error = shared_memory.allow(entry, plan.kernel, plan.shared_bytes)) return error;
    block_scaled::BlockScaledParams params = block_scaled::block_scaled_params(*instance, args);
    void* arguments[] = {&params};
    return cudaLaunchKernel(entry, dim3(static_cast<unsigned>(gemm::blocks_of(instance->tile, args.linear))),
                            dim3(static_cast<unsigned>(instance->tile.threads)), arguments, plan.shared_bytes,
                            static_cast<cudaStream_t>(stream));
}

}  // namespace mezzotint
