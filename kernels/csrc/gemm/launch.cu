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
    gemm::LinearParams params = gemm::linear_params(*instance, args, plan.splits);
    void* arguments[] = {&params};
    const unsigned blocks = static_cast<unsigned>(gemm::blocks_of(*instance, args));
    const auto launch = [&](gemm::Entry entry, unsigned count) {
        return cudaLaunchKernel(entry, dim3(count), dim3(static_cast<unsigned>(instance->threads)), arguments,
                                plan.shared_bytes, static_cast<cudaStream_t>(stream));
    };
    const cudaError_t error = launch(instance->entry, blocks * plan.splits);
    return error || plan.splits == 1 ? error : launch(instance->join_entry, blocks);
}

}  // namespace mezzotint
