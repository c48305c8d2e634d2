#include "cuda_runtime.h"

#include <cuda_runtime_api.h>

#include <cstdio>

namespace mezzotint {
namespace cuda {

static_assert(kInsufficientDriver == cudaErrorInsufficientDriver, "CUDA's number");
static_assert(kNoDevice == cudaErrorNoDevice, "CUDA's number");
static_assert(kInvalidDevice == cudaErrorInvalidDevice, "CUDA's number");
static_assert(kNoKernelImage == cudaErrorNoKernelImageForDevice, "CUDA's number");
static_assert(kUnsupportedPtx == cudaErrorUnsupportedPtxVersion, "CUDA's number");

int driver_version(int& version) { return cudaDriverGetVersion(&version); }

int device_count(int& count) { return cudaGetDeviceCount(&count); }

int current_device(int& ordinal) { return cudaGetDevice(&ordinal); }

int device_attributes(int ordinal, Attributes& attributes) {
    struct {
        int* value;
        cudaDeviceAttr name;
    } const wanted[] = {
        {&attributes.major, cudaDevAttrComputeCapabilityMajor},
        {&attributes.minor, cudaDevAttrComputeCapabilityMinor},
        {&attributes.multiprocessors, cudaDevAttrMultiProcessorCount},
        {&attributes.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin},
    };
    for (const auto& each : wanted) {
        if (const cudaError_t error = cudaDeviceGetAttribute(each.value, each.name, ordinal)) return error;
    }
    return 0;
}

int device_name(int ordinal, char* name, int size) {
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal);
    if (error == cudaSuccess) std::snprintf(name, size, "%s", properties.name);
    return error;
}

const char* error_text(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

int runtime_version() { return CUDART_VERSION; }

}  // namespace cuda
}  // namespace mezzotint
