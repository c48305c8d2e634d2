// CUDA's runtime without CUDA: it remembers what it is asked, queues nothing, and refuses what CUDA refuses.
//
// The library is linked with it in the place of the runtime, so it must not ask for anything else: what would allocate,
// wait or copy has no name here.
#include "stub_cuda.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <mutex>

#include "api.h"
#include "stub_kernels.h"

namespace {

constexpr int kPlainSharedBytes = 48 * 1024;

Stub state;
std::mutex one_at_a_time;
thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;

// What CUDA answers to everything where there is no driver, an old one, or no card.
cudaError_t missing() {
    if (state.driver_version < CUDART_VERSION) return cudaErrorInsufficientDriver;
    return state.cards == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t told_to_fail(const char* name) {
    StubFailure& failure = state.failure;
    if (std::strcmp(name, failure.name) != 0 || failure.passes-- > 0) return cudaSuccess;
    std::strcpy(failure.name, failure.sticky ? "*" : "");
    return static_cast<cudaError_t>(failure.error);
}

void remember(const char* name, int64_t value, cudaError_t error) {
    if (state.calls >= kStubCalls) return;
    StubCall& call = state.call[state.calls++];
    std::strncpy(call.name, name, sizeof call.name - 1);
    call.device = current;
    call.error = error;
    call.value = value;
}

// One call: it fails as it is told to, or for want of a card, or for the reason that `work` finds.
template <typename Work>
cudaError_t answer(const char* name, int64_t value, const Work& work) {
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    const bool broken = std::strcmp(state.failure.name, "*") == 0;
    cudaError_t error = broken ? static_cast<cudaError_t>(state.failure.error) : told_to_fail(name);
    if (error == cudaSuccess) error = missing();
    if (error == cudaSuccess) error = work();
    if (error != cudaSuccess) last_error = error;
    remember(name, value, error);
    return error;
}

cudaError_t value_of(const StubCard& card, cudaDeviceAttr attribute, int* value) {
    switch (attribute) {
        case cudaDevAttrComputeCapabilityMajor: *value = card.major; return cudaSuccess;
        case cudaDevAttrComputeCapabilityMinor: *value = card.minor; return cudaSuccess;
        case cudaDevAttrMultiProcessorCount: *value = card.multiprocessors; return cudaSuccess;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = card.shared_bytes; return cudaSuccess;
        default: return cudaErrorInvalidValue;
    }
}

bool is_there(int device) { return device >= 0 && device < state.cards; }

// How CUDA judges a launch before it queues it.
cudaError_t judge(const stub::Kernel& kernel, const dim3& grid, const dim3& block, size_t shared) {
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
        return cudaErrorInvalidConfiguration;
    }
    if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) return cudaErrorInvalidConfiguration;
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (threads > 1024) return cudaErrorInvalidConfiguration;
    if (kernel.most_threads > 0 && threads > static_cast<uint64_t>(kernel.most_threads)) {
        return cudaErrorLaunchOutOfResources;
    }
    return shared > static_cast<size_t>(kernel.allowed(current)) ? cudaErrorInvalidValue : cudaSuccess;
}

void copy_argument(StubLaunch& launch, const stub::Kernel& kernel, void** arguments) {
    launch.parameters = kernel.parameters;
    launch.bytes = kernel.bytes;
    if (kernel.parameters > 0 && kernel.bytes <= static_cast<int>(sizeof launch.argument)) {
        std::memcpy(launch.argument, arguments[0], kernel.bytes);
    }
}

cudaError_t launch_kernel(const void* entry, dim3 grid, dim3 block, void** arguments, size_t shared,
                          cudaStream_t stream) {
    const stub::Kernel* kernel = stub::find_kernel(entry);
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    const cudaError_t error = judge(*kernel, grid, block, shared);
    if (state.launches == kStubLaunches) return cudaErrorUnknown;
    StubLaunch& launch = state.launch[state.launches++];
    launch = StubLaunch{{}, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, static_cast<int64_t>(shared),
                        kernel->allowed(current), current, error, kernel->most_threads, stream, 0, 0, {}};
    std::strncpy(launch.kernel, kernel->name.c_str(), sizeof launch.kernel - 1);
    copy_argument(launch, *kernel, arguments);
    return error;
}

// What a tensor's map was made of, in the place of what only the driver can write.
struct StubMap {
    void* first;
    cuuint64_t sizes[4], strides[3];
    cuuint32_t box[4], steps[4];
    int32_t type, rank, interleave, exchanged, promoted, filled;
};
static_assert(sizeof(StubMap) <= sizeof(CUtensorMap), "fits");

// As the driver's documentation has it for 16-bit numbers.
bool is_refused(const StubMap& map) {
    const cuuint32_t widest = map.exchanged == CU_TENSOR_MAP_SWIZZLE_128B ? 128 : 64;
    bool wrong = map.rank != 4 || reinterpret_cast<uintptr_t>(map.first) % 16 != 0 || map.box[0] * 2 > widest;
    for (const cuuint64_t size : map.sizes) wrong = wrong || size == 0 || size > (cuuint64_t{1} << 32);
    for (const cuuint64_t stride : map.strides) {
        wrong = wrong || stride == 0 || stride % 16 != 0 || stride >= (cuuint64_t{1} << 40);
    }
    for (const cuuint32_t side : map.box) wrong = wrong || side == 0 || side > 256;
    return wrong;
}

CUresult encode(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* first, const cuuint64_t* sizes,
                const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* steps,
                CUtensorMapInterleave interleave, CUtensorMapSwizzle exchanged, CUtensorMapL2promotion promoted,
                CUtensorMapFloatOOBfill filled) {
    if (answer("cuTensorMapEncodeTiled", 0, [] { return cudaSuccess; })) return CUDA_ERROR_INVALID_VALUE;
    StubMap map{first, {}, {}, {}, {}, type, static_cast<int32_t>(rank), interleave, exchanged, promoted, filled};
    std::memcpy(map.sizes, sizes, sizeof map.sizes);
    std::memcpy(map.strides, strides, sizeof map.strides);
    std::memcpy(map.box, box, sizeof map.box);
    std::memcpy(map.steps, steps, sizeof map.steps);
    if (is_refused(map)) return CUDA_ERROR_INVALID_VALUE;
    std::memset(static_cast<void*>(to), 0, sizeof *to);
    std::memcpy(static_cast<void*>(to), &map, sizeof map);
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

MZT_API Stub* mzt_stub() {
    state.kernels = stub::count_kernels();
    return &state;
}

// Of the calling thread, without a call that is remembered.
MZT_API void mzt_stub_use(int32_t device) { current = device; }
MZT_API int32_t mzt_stub_used() { return current; }

cudaError_t cudaDriverGetVersion(int* version) {
    *version = state.driver_version;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 0;
    return answer("cudaGetDeviceCount", 0, [&] { return *count = state.cards, cudaSuccess; });
}

cudaError_t cudaGetDevice(int* device) {
    return answer("cudaGetDevice", 0, [&] { return *device = current, cudaSuccess; });
}

cudaError_t cudaSetDevice(int device) {
    return answer("cudaSetDevice", device, [&] {
        if (!is_there(device)) return cudaErrorInvalidDevice;
        current = device;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return answer("cudaDeviceGetAttribute", device, [&] {
        return is_there(device) ? value_of(state.card[device], attribute, value) : cudaErrorInvalidDevice;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return answer("cudaGetDeviceProperties", device, [&] {
        if (!is_there(device)) return cudaErrorInvalidDevice;
        std::memset(static_cast<void*>(properties), 0, sizeof *properties);
        std::strncpy(properties->name, state.card[device].name, sizeof properties->name - 1);
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void* entry, cudaFuncAttribute attribute, int value) {
    return answer("cudaFuncSetAttribute", value, [&] {
        stub::Kernel* kernel = stub::find_kernel(entry);
        if (!kernel) return cudaErrorInvalidDeviceFunction;
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaErrorInvalidValue;
        if (value < 0 || value > state.card[current].shared_bytes) return cudaErrorInvalidValue;
        kernel->allow(current, value);
        return cudaSuccess;
    });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
    return answer("cudaGetDriverEntryPoint", 0, [&] {
        if (std::strcmp(symbol, "cuTensorMapEncodeTiled") != 0) return cudaErrorInvalidValue;
        *function = reinterpret_cast<void*>(&encode);
        *found = cudaDriverEntryPointSuccess;
        return cudaSuccess;
    });
}

cudaError_t cudaLaunchKernel(const void* entry, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
    return answer("cudaLaunchKernel", static_cast<int64_t>(shared),
                  [&] { return launch_kernel(entry, grid, block, arguments, shared, stream); });
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorInvalidDeviceFunction: return "invalid device function";
        case cudaErrorNoDevice: return "no CUDA-capable device is detected";
        case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
        case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
        default: return "an error that the stub has no words for";
    }
}

}
