// More shared memory than kernels have without being asked, once for each device and kernel.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>

namespace mezzotint {

// Of `instances` kernels. Threads may find the same kernel not yet asked for; asking twice does no harm.
template <int instances>
class SharedMemory {
public:
    cudaError_t allow(const void* entry, uint32_t number, int bytes) {
        if (bytes <= kPlain) return cudaSuccess;
        int device = 0;
        if (const cudaError_t error = cudaGetDevice(&device)) return error;
        const bool remembered = number < instances && device < kMostDevices;
        const uint64_t bit = uint64_t{1} << (device % kMostDevices);
        if (remembered && (allowed_[number].load(std::memory_order_relaxed) & bit)) return cudaSuccess;
        const cudaError_t error = cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (error == cudaSuccess && remembered) allowed_[number].fetch_or(bit, std::memory_order_relaxed);
        return error;
    }

private:
    static constexpr int kPlain = 48 * 1024;
    static constexpr int kMostDevices = 64;
    std::atomic<uint64_t> allowed_[instances] = {};
};

}  // namespace mezzotint
