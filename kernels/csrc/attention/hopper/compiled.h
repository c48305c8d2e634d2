// Hopper's kernels out of templates: what its files of instances/ are made of, compiled for sm_90a alone.
#pragma once

#include "../compiled.h"
#include "kernel.h"

namespace mezzotint {

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_hopper(const void* params, void* shared) {
    if constexpr (kEmulated) hopper_forward_block<T>(*static_cast<const HopperParams*>(params), shared);
}

#else

template <typename Element, int head_dim, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) attention_hopper(const __grid_constant__ HopperParams params) {
    if constexpr (kHasWideProducts) {
        extern __shared__ __align__(1024) char tiles[];
        hopper_forward_block<HopperTraits<Element, head_dim, Shape>>(params, tiles);
    }
}

#endif

template <typename Element, int head_dim, class Shape>
Instance hopper_instance() {
    using T = HopperTraits<Element, head_dim, Shape>;
#ifdef MEZZOTINT_EMULATOR
    const Entry kernel = &run_hopper<T>;
#else
    const auto kernel = reinterpret_cast<Entry>(&attention_hopper<Element, head_dim, Shape>);
#endif
    return described<T>(Kind::hopper, kernel, kernel);
}

}  // namespace mezzotint
