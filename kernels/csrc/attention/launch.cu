// Queueing a planned kernel: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include "../shared_memory.h"
#include "choose.h"
#include "int8/passes.h"
#include "int8/workspace.h"
#include "splits/splits.h"

namespace mezzotint {

namespace {

constexpr int kMostInstances = 1024;

cudaError_t queue(Entry entry, int64_t blocks, int threads, int shared_bytes, void* params, cudaStream_t stream) {
    void* arguments[] = {params};
    return cudaLaunchKernel(entry, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), arguments,
                            shared_bytes, stream);
}

// Sums and maxima, then the quantized copies.
cudaError_t queue_passes(const Instance& instance, Int8Params& params, cudaStream_t stream) {
    const PassesBefore passes = passes_before(instance);
    const int shared = int8_pass_shared_bytes(params);
    if (const cudaError_t error =
            queue(passes.summarize, summarize_blocks(params), kPassThreads, shared, &params, stream)) {
        return error;
    }
    return queue(passes.copy, quantize_blocks(params), kPassThreads, shared, &params, stream);
}

}  // namespace

int launch_attention(const MztAttentionArgs& args, const MztAttentionPlan& plan, void* given_stream) {
    const cudaStream_t stream = static_cast<cudaStream_t>(given_stream);
    const Instance* instance = instance_of(plan.kernel);
    if (!instance) return cudaErrorInvalidDeviceFunction;
    static SharedMemory<kMostInstances> shared_memory;
    if (const cudaError_t error = shared_memory.allow(instance->entry, plan.kernel, instance->shared_bytes)) {
        return error;
    }
    const int splits = planned_splits(*instance, args, plan.workspace_bytes);
    ForwardParams forward = forward_params(*instance, args, splits);
    void* params = &forward;
    Int8Params int8{};
    if (has_copies(instance->kind)) {
        int8 = int8_params(args);
        int8.forward = forward;
        params = &int8;
        if (const cudaError_t error = queue_passes(*instance, int8, stream)) return error;
    }
    const int64_t blocks = blocks_of(*instance, args, forward.tiles_per_block) * splits;
    const cudaError_t error = queue(instance->entry, blocks, instance->threads, instance->shared_bytes, params, stream);
    if (error || splits == 1) return error;
    const JoinLaunch join = join_launch(forward, instance->dtype);
    return queue(join.entry, join.blocks, join.threads, 0, &forward, stream);
}

}  // namespace mezzotint
