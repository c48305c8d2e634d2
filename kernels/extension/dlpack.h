// The part of DLPack's C exchange API (https://dmlc.github.io/dlpack, version 1.3) that attention_calls.cpp uses.
#pragma once

#include <stdint.h>

namespace mezzotint {
namespace dlpack {

constexpr uint32_t kMajorVersion = 1;

struct Device {
    int32_t type, id;
};

struct DataType {
    uint8_t code, bits;
    uint16_t lanes;
};

// A borrowed tensor; strides are in elements.
struct Tensor {
    void* data;
    Device device;
    int32_t axes;
    DataType dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
};

// What a framework publishes as `__dlpack_c_exchange_api__` of its tensor type, in a capsule of that name.
struct ExchangeApi {
    uint32_t major, minor;
    ExchangeApi* older;
    void* allocate;        // not used here
    void* to_managed;      // not used here
    void* from_managed;    // not used here
    int (*view)(void* object, Tensor* tensor);  // 0, or -1 with a Python exception; may be null
    int (*current_stream)(int32_t device_type, int32_t device, void** stream);
};

constexpr const char* kCapsule = "dlpack_exchange_api";

}  // namespace dlpack
}  // namespace mezzotint
