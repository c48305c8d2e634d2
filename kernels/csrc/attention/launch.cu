// Queueing a planned kernel: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include "../shared_memory.h"
#include "choose.h"
#include "hopper/maps.h"
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

// Blocks for every part of the keys, then what joins them.
cudaError_t queue_parts(const Instance& instance, ForwardParams& params, cudaStream_t stream) {
    const int64_t blocks = static_cast<int64_t>(params.splits.blocks) * params.splits.count;
    const cudaError_t error = queue(instance.entry, blocks, instance.threads, instance.shared_bytes, &params, stream);
    if (error) return error;
    const JoinLaunch join = join_launch(params, instance.dtype);
    return queue(join.entry, join.blocks, join.threads, 0, &params, stream);
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
    if (instance->kind == Kind::hopper) return launch_hopper(*instance, args, given_stream);
    ForwardParams forward = forward_params(*instance, args, planned_splits(*instance, args, plan.workspace_bytes));
    if (forward.splits.count > 1) return queue_parts(*instance, forward, stream);
    void* params = &forward;
    Int8Params int8{};
    if (has_copies(instance->kind)) {
        int8 = int8_params(args);
        int8.forward = forward;
        params = &int8;
        if (const cudaError_t error = queue_passes(*instance, int8, stream)) return error;
    }
    return queue(instance->entry, blocks_of(*instance, args, forward.tiles_per_block), instance->threads,
                 instance->shared_bytes, params, stream);
}

}  // namespace mezzotint
