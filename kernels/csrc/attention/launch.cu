// Queueing a planned kernel: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include <atomic>

#include "choose.h"

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

}  // namespace

int launch_attention(const MztAttentionArgs& args, const MztAttentionPlan& plan, void* stream) {
    const Instance* instance = instance_of(plan.kernel);
    if (!instance) return cudaErrorInvalidDeviceFunction;
    if (const cudaError_t error = allow_shared_memory(*instance, plan.kernel)) return error;
    ForwardParams params = forward_params(*instance, args);
    void* arguments[] = {&params};
    const dim3 grid(static_cast<unsigned>(blocks_of(*instance, args)));
    const dim3 block(static_cast<unsigned>(instance->threads));
    return cudaLaunchKernel(instance->entry, grid, block, arguments, instance->shared_bytes,
                            static_cast<cudaStream_t>(stream));
}

}  // namespace mezzotint
