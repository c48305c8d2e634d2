// Backward kernels out of templates: what each file of instances/ is made of.
#pragma once

#include "instance.h"
#include "kernel.h"

namespace mezzotint {
namespace backward_pass {

template <typename Element>
constexpr MztDtype kDtype = MZT_BFLOAT16;
template <>
constexpr MztDtype kDtype<float16> = MZT_FLOAT16;

// Whether the architecture can run kernels of these traits; others are compiled to nothing for it.
template <class T>
constexpr bool kRunsHere = T::Architecture::mma_k == 16 ||
                           (kDtype<typename T::Element> == MZT_FLOAT16 && T::shared_bytes <= kTuringSharedBytes);

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_backward(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) {
        attention_backward_block<T>(*static_cast<const BackwardParams*>(params), shared);
    }
}

#else

template <typename Element, int head_dim, class Shape, int part_dim>
__global__ void __launch_bounds__(Shape::threads, 1)
    attention_backward(const __grid_constant__ BackwardParams params) {
    using T = Traits<ThisArchitecture, Element, head_dim, Shape, part_dim>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        attention_backward_block<T>(params, shared);
    }
}

template <typename Element, int head_dim, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    attention_backward_dropout(const __grid_constant__ BackwardParams params) {
    using T = DropoutTraits<ThisArchitecture, Element, head_dim, Shape>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        attention_backward_block<T>(params, shared);
    }
}

#endif

template <class T>
Instance described(Entry entry, Entry turing_entry) {
    using Shape = typename T::Shape;
    return {T::head_dim,   T::part_dim,   kDtype<typename T::Element>, T::dropout,      Shape::tile_m, Shape::tile_n,
            Shape::stages, Shape::threads, T::shared_bytes,            entry,           turing_entry};
}

template <typename Element, int head_dim, class Shape, int part_dim = head_dim>
Instance instance() {
    using T = Traits<Ampere, Element, head_dim, Shape, part_dim>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(&run_backward<T>, &run_backward<Traits<Turing, Element, head_dim, Shape, part_dim>>);
#else
    const auto entry = reinterpret_cast<Entry>(&attention_backward<Element, head_dim, Shape, part_dim>);
    return described<T>(entry, entry);
#endif
}

template <typename Element, int head_dim, class Shape>
Instance dropout_instance() {
    using T = DropoutTraits<Ampere, Element, head_dim, Shape>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(&run_backward<T>, &run_backward<DropoutTraits<Turing, Element, head_dim, Shape>>);
#else
    const auto entry = reinterpret_cast<Entry>(&attention_backward_dropout<Element, head_dim, Shape>);
    return described<T>(entry, entry);
#endif
}

}  // namespace backward_pass
}  // namespace mezzotint
