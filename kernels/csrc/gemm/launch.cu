// Queueing a planned product: no allocation, no waiting, no default stream, so that a graph can record it.
#include <cuda_runtime.h>

#include <atomic>

#include "choose.h"

namespace mezzotint {

namespace {

constexpr int kPlainSharedBytes = 48 * 1024;  // more must be asked for, once for each device and kernel
constexpr int kMostDevices = 64;
constexpr int kMostInstances = 64;

// Threads may find the same kernel not yet asked for; asking twice does no harm.
cudaError_t allow_shared_memory(gemm::Entry entry, const LinearPlan& plan) {
    static std::atomic<uint64_t> allowed[kMostInstances];
    if (plan.shared_bytes <= kPlainSharedBytes) return cudaSuccess;
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    const bool remembered = plan.kernel < kMostInstances && device < kMostDevices;
    const uint64_t bit = uint64_t{1} << (device % kMostDevices);
    if (remembered && (allowed[plan.kernel].load(std::memory_order_relaxed) & bit)) return cudaSuccess;
    const cudaError_t error =
        cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, plan.shared_bytes);
    if (error == cudaSuccess && remembered) allowed[plan.kernel].fetch_or(bit, std::memory_order_relaxed);
    return error;
}

}  // namespace

int launch_linear(const MztLinearArgs& args, const LinearPlan& plan, void* stream) {
    const gemm::Instance* instance = gemm::instance_of(plan.kernel);
    if (!instance) return cudaErrorInvalidDeviceFunction;
    if (const cudaError_t error = allow_shared_memory(instance->entry, plan)) return error;
    gemm::LinearParams params = gemm::linear_params(*instance, args);
    void* arguments[] = {&params};
    return cudaLaunchKernel(instance->entry, dim3(static_cast<unsigned>(gemm::blocks_of(*instance, args))),
                            dim3(static_cast<unsigned>(instance->threads)), arguments, plan.shared_bytes,
                            static_cast<cudaStream_t>(stream));
}

}  // namespace mezzotint
