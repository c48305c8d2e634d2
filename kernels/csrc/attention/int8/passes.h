// The kernels that come before the main loop, two for each instance, for either number format.
#pragma once

#include "../instance.h"

namespace mezzotint {

constexpr int kPassThreads = 128;

struct Int8Passes {
    Entry summarize, quantize, quantize_all;
    Entry summarize_values, halve;  // of kernels that only need the values in float16
    Entry quantize_fp8;             // like quantize_all, with values that are floats of 8 bits
};

Int8Passes int8_passes(MztDtype dtype);

// The two that an instance needs.
struct PassesBefore {
    Entry summarize, copy;
};
inline PassesBefore passes_before(const Instance& instance) {
    const Int8Passes all = int8_passes(instance.dtype);
    if (instance.kind == Kind::half_sums) return {all.summarize_values, all.halve};
    if (instance.kind == Kind::int8_fp8) return {all.summarize, all.quantize_fp8};
    return {all.summarize, instance.kind == Kind::int8_all ? all.quantize_all : all.quantize};
}

}  // namespace mezzotint
