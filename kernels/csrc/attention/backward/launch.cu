// Queueing the three passes of a planned backward: no allocation, no waiting, no default stream.
#include <cuda_runtime.h>

#include "../../shared_memory.h"
#include "choose.h"
#include "passes.h"

namespace mezzotint {

namespace {

constexpr int kMostInstances = 512;

cudaError_t queue(Entry entry, int64_t blocks, int threads, int shared_bytes, void* params, cudaStream_t stream) {
    void* arguments[] = {params};
    return cudaLaunchKernel(entry, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), arguments,
                            shared_bytes, stream);
}

}  // namespace

int launch_backward(const MztAttentionBackwardArgs& args, const BackwardPlan& plan, void* given_stream) {
    using namespace backward_pass;
    const cudaStream_t stream = static_cast<cudaStream_t>(given_stream);
    const backward_pass::Instance* instance = backward_pass::instance_of(plan.kernel);
    if (!instance) return cudaErrorInvalidDeviceFunction;
    const int shared = instance->shared_bytes;
    static SharedMemory<kMostInstances> shared_memory;
    if (const cudaError_t error = shared_memory.allow(instance->entry, plan.kernel, shared)) return error;
    BackwardParams params = params_of(*instance, args, plan.splits);
    const Passes passes = passes_of(instance->dtype);
    if (params.nq > 0) {
        if (const cudaError_t error = queue(passes.prepare, prepare_blocks(args), kPassThreads, 0, &params, stream)) {
            return error;
        }
    }
    if (params.nk > 0) {
        const int64_t blocks = main_blocks(*instance, args, plan.splits);
        if (const cudaError_t error = queue(instance->entry, blocks, instance->threads, shared, &params, stream)) {
            return error;
        }
    }
    return params.nq > 0 ? queue(passes.finish, finish_blocks(args), kPassThreads, 0, &params, stream) : cudaSuccess;
}

}  // namespace mezzotint
