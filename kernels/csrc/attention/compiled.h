// Kernels out of templates: what each file of instances/ is made of.
#pragma once

#include "instance.h"
#include "kernel.h"

namespace mezzotint {

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_block(const ForwardParams& params, void* shared) {
    attention_forward_block<T>(params, shared);
}

#else

template <typename Element>
struct TuringMultiplies {
    static constexpr bool value = false;
};
template <>
struct TuringMultiplies<float16> {
    static constexpr bool value = true;
};

template <typename Element, int head_dim, class Shape, bool masked, int slice_dim>
__global__ void __launch_bounds__(Shape::threads, 1)  // left alone, ptxas spills to fit more blocks
    attention_forward(const __grid_constant__ ForwardParams params) {
    using T = Traits<ThisArchitecture, Element, head_dim, Shape, masked, slice_dim>;
    constexpr bool fits = ThisArchitecture::mma_k == 16 ||
                          (TuringMultiplies<Element>::value && T::shared_bytes <= kTuringSharedBytes);
    if constexpr (fits) {
        extern __shared__ __align__(128) char shared[];
        attention_forward_block<T>(params, shared);
    }
}

#endif

template <typename Element>
constexpr MztDtype dtype_of();
template <>
constexpr MztDtype dtype_of<float16>() {
    return MZT_FLOAT16;
}
template <>
constexpr MztDtype dtype_of<bfloat16>() {
    return MZT_BFLOAT16;
}

template <typename Element, int head_dim, class Shape, bool masked, int slice_dim = head_dim>
Instance instance() {
    using T = Traits<Ampere, Element, head_dim, Shape, masked, slice_dim>;
#ifdef MEZZOTINT_EMULATOR
    const Entry entry = &run_block<T>;
    const Entry turing_entry = &run_block<Traits<Turing, Element, head_dim, Shape, masked, slice_dim>>;
#else
    const Entry entry = reinterpret_cast<Entry>(&attention_forward<Element, head_dim, Shape, masked, slice_dim>);
    const Entry turing_entry = entry;
#endif
    return {head_dim,      slice_dim,
            dtype_of<Element>(), masked,
            Shape::tile_m, Shape::tile_n,
            Shape::rows_per_warp, Shape::threads,
            T::shared_bytes, entry,
            turing_entry};
}

}  // namespace mezzotint
