// What nvcc's code calls when the library is loaded: fat binaries, and the kernels in them.
//
// They hold PTX that is not compressed. It says of every kernel what it takes, and how many threads it was compiled for:
// the stub believes that and not what the host's side of the library thinks.
#include "stub_kernels.h"

#include <cuda_runtime_api.h>
#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace stub {

namespace {

struct FatBinary {  // fatbinary_section.h: what __cudaRegisterFatBinary is given
    int32_t magic, version;
    const unsigned char* data;
    void* file;
};

std::map<const void*, Kernel>& kernels() {
    static std::map<const void*, Kernel> every;  // made when first needed: files are initialized in any order
    return every;
}

// 16 bytes of head, which say in their second half how many follow.
std::string_view text_of(const FatBinary& binary) {
    uint64_t size;
    std::memcpy(&size, binary.data + 8, sizeof size);
    return {reinterpret_cast<const char*>(binary.data), 16 + size};
}

std::string readable(const char* mangled) {
    int status = 0;
    char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    const std::string name = text ? text : mangled;
    std::free(text);
    return name;
}

int number_after(std::string_view text, std::string_view words) {
    const size_t found = text.find(words);
    return found == text.npos ? 0 : std::atoi(text.data() + found + words.size());
}

// `.entry name( .param .align 8 .b8 name_param_0[248] ) .maxntid 128, 1, 1 ... {`
void describe(Kernel& kernel, std::string_view text, const std::string& mangled) {
    const size_t found = text.find(".entry " + mangled + "(");
    if (found == text.npos) return;
    const std::string_view head = text.substr(found, text.find('{', found) - found);
    kernel.most_threads = number_after(head, ".maxntid ");
    kernel.bytes = number_after(head, mangled + "_param_0[");
    while (head.find(mangled + "_param_" + std::to_string(kernel.parameters)) != head.npos) ++kernel.parameters;
}

}  // namespace

Kernel* find_kernel(const void* entry) {
    const auto found = kernels().find(entry);
    return found == kernels().end() ? nullptr : &found->second;
}

int count_kernels() { return static_cast<int>(kernels().size()); }

}  // namespace stub

extern "C" {

void** __cudaRegisterFatBinary(void* binary) { return static_cast<void**>(binary); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void** binary, const char* entry, char*, const char* mangled, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
    stub::Kernel& kernel = stub::kernels()[entry];
    kernel.name = stub::readable(mangled);
    stub::describe(kernel, stub::text_of(*reinterpret_cast<const stub::FatBinary*>(binary)), mangled);
}

// What a kernel's stub would call, were it launched with <<<>>>: this library has no such place.
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void*) { std::abort(); }
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { std::abort(); }
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { std::abort(); }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t) { std::abort(); }

}
