// Queueing a planned product: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include "../shared_memory.h"
#include "choose.h"

namespace mezzotint {

constexpr int kMostInstances = 64;

int launch_linear(const MztLinearArgs& args, const LinearPlan& plan, void* stream) {
    const gemm::Instance* instance = gemm::instance_of(plan.kernel);
    if (!instance) return cudaErrorInvalidDeviceFunction;
    static SharedMemory<kMostInstances> shared_memory;
    if (const cudaError_t error = shared_memory.allow(instance->entry, plan.kernel, plan.shared_bytes)) return error;
    gemm::LinearParams params = gemm::linear_params(*instance, args);
    void* arguments[] = {&params};
    return cudaLaunchKernel(instance->entry, dim3(static_cast<unsigned>(gemm::blocks_of(*instance, args))),
                            dim3(static_cast<unsigned>(instance->threads)), arguments, plan.shared_bytes,
                            static_cast<cudaStream_t>(stream));
}

}  // namespace mezzotint
