#include "passes.h"

#include "quantize.h"
#include "quantize_all.h"

namespace mezzotint {

namespace {

#ifdef MEZZOTINT_EMULATOR

template <typename Element>
void run_summarize(const void* params, void* shared) {
    summarize_block<Element>(*static_cast<const Int8Params*>(params), shared);
}
template <typename Element>
void run_quantize(const void* params, void* shared) {
    quantize_block<Element>(*static_cast<const Int8Params*>(params), shared);
}
template <typename Element>
void run_quantize_all(const void* params, void* shared) {
    quantize_all_block<Element>(*static_cast<const Int8Params*>(params), shared);
}
template <typename Element>
void run_quantize_fp8(const void* params, void* shared) {
    quantize_all_block<Element, Fp8Values>(*static_cast<const Int8Params*>(params), shared);
}
template <typename Element>
void run_summarize_values(const void* params, void* shared) {
    summarize_block<Element, false>(*static_cast<const Int8Params*>(params), shared);
}
template <typename Element>
void run_halve(const void* params, void* shared) {
    halve_block<Element>(*static_cast<const Int8Params*>(params), shared);
}

template <typename Element>
Int8Passes passes() {
    return {&run_summarize<Element>, &run_quantize<Element>, &run_quantize_all<Element>, &run_summarize_values<Element>,
            &run_halve<Element>, &run_quantize_fp8<Element>};
}

#else

// Compiled to nothing where the kernels are that they prepare for.
template <typename Element>
__global__ void __launch_bounds__(kPassThreads) summarize(const __grid_constant__ Int8Params params) {
    if constexpr (ThisArchitecture::has_int8_products) {
        extern __shared__ __align__(16) char shared[];
        summarize_block<Element>(params, shared);
    }
}
template <typename Element>
__global__ void __launch_bounds__(kPassThreads) quantize(const __grid_constant__ Int8Params params) {
    if constexpr (ThisArchitecture::has_int8_products) {
        extern __shared__ __align__(16) char shared[];
        quantize_block<Element>(params, shared);
    }
}
template <typename Element>
__global__ void __launch_bounds__(kPassThreads) quantize_all(const __grid_constant__ Int8Params params) {
    if constexpr (ThisArchitecture::has_int8_products) {
        extern __shared__ __align__(16) char shared[];
        quantize_all_block<Element>(params, shared);
    }
}
template <typename Element>
__global__ void __launch_bounds__(kPassThreads) quantize_fp8(const __grid_constant__ Int8Params params) {
    if constexpr (Fp8Architecture::has_fp8_products) {
        extern __shared__ __align__(16) char shared[];
        quantize_all_block<Element, Fp8Values>(params, shared);
    }
}
template <typename Element>
__global__ void __launch_bounds__(kPassThreads) summarize_values(const __grid_constant__ Int8Params params) {
    if constexpr (ThisArchitecture::has_int8_products) {
        extern __shared__ __align__(16) char shared[];
        summarize_block<Element, false>(params, shared);
    }
}
template <typename Element>
__global__ void __launch_bounds__(kPassThreads) halve(const __grid_constant__ Int8Params params) {
    if constexpr (ThisArchitecture::has_int8_products) {
        extern __shared__ __align__(16) char shared[];
        halve_block<Element>(params, shared);
    }
}

template <typename Element>
Int8Passes passes() {
    return {reinterpret_cast<Entry>(&summarize<Element>), reinterpret_cast<Entry>(&quantize<Element>),
            reinterpret_cast<Entry>(&quantize_all<Element>), reinterpret_cast<Entry>(&summarize_values<Element>),
            reinterpret_cast<Entry>(&halve<Element>), reinterpret_cast<Entry>(&quantize_fp8<Element>)};
}

#endif

}  // namespace

Int8Passes int8_passes(MztDtype dtype) { return dtype == MZT_FLOAT16 ? passes<float16>() : passes<bfloat16>(); }

}  // namespace mezzotint
