// Queueing a planned kernel: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include <atomic>

#include "choose.h"
#include "int8/passes.h"
#include "int8/workspace.h"

namespace mezzotint {

namespace {

constexpr int kPlainSharedBytes = 48 * 1024;  // more must be asked for, once for each device and kernel
constexpr int kMostDevices = 64;
constexpr int kMostInstances = 1024;

// Threads may find the same kernel not yet asked for; asking twice does no harm.
cudaError_t allow_shared_memory(const Instance& instance, uint32_t number) {
    static std::atomic<uint64_t> allowed[kMostInstances];
    if (instance.shared_bytes <= kPlainSharedBytes) return cudaSuccess;
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    const bool remembered = number < kMostInstances && device < kMostDevices;
    const uint64_t bit = uint64_t{1} << (device % kMostDevices);
    if (remembered && (allowed[number].load(std::memory_order_relaxed) & bit)) return cudaSuccess;
    const cudaError_t error =
        cudaFuncSetAttribute(instance.entry, cudaFuncAttributeMaxDynamicSharedMemorySize, instance.shared_bytes);
    if (error == cudaSuccess && remembered) allowed[number].fetch_or(bit, std::memory_order_relaxed);
    return error;
}

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
    if (const cudaError_t error = allow_shared_memory(*instance, plan.kernel)) return error;
    ForwardParams forward = forward_params(*instance, args);
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
