// Kernels out of templates: what each file of instances/ is made of.
#pragma once

#include "half_sums.h"
#include "instance.h"
#include "int8/kernel.h"
#include "kernel.h"
#include "short_keys.h"

namespace mezzotint {

template <typename Element>
constexpr bool kTuringMultiplies = false;
template <>
constexpr bool kTuringMultiplies<float16> = true;

// Whether the architecture can run kernels of these traits; others are compiled to nothing for it.
template <class T>
constexpr bool kRunsHere = T::Architecture::mma_k == 16 ||
                           (kTuringMultiplies<typename T::Element> && T::shared_bytes <= kTuringSharedBytes);

template <class T>
constexpr bool kRunsInt8Here = kRunsHere<T> && T::Architecture::has_int8_products;

// Whether products with 32-bit sums have half the rate there; choose.cpp has the same architectures.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200))
constexpr bool kHalves32BitSums = false;
#else
constexpr bool kHalves32BitSums = true;
#endif

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_forward(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) {
        attention_forward_block<T>(*static_cast<const ForwardParams*>(params), shared);
    }
}
template <class T>
void run_short(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) {
        short_keys_block<T>(*static_cast<const ForwardParams*>(params), shared);
    }
}
template <class T>
void run_int8(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) {
        int8_forward_block<T>(*static_cast<const Int8Params*>(params), shared);
    }
}
template <class T>
void run_int8_all(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) {
        int8_all_block<T>(*static_cast<const Int8Params*>(params), shared);
    }
}
template <class T>
void run_int8_fp8(const void* params, void* shared) {
    if constexpr (kEmulated && T::Architecture::has_fp8_products) {
        int8_all_block<T>(*static_cast<const Int8Params*>(params), shared);
    }
}
template <class T>
void run_half_sums(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) {
        half_sums_block<T>(*static_cast<const Int8Params*>(params), shared);
    }
}

#else

template <typename Element, int head_dim, class Shape, bool masked, int slice_dim>
__global__ void __launch_bounds__(Shape::threads, 1)  // left alone, ptxas spills to fit more blocks
    attention_forward(const __grid_constant__ ForwardParams params) {
    using T = Traits<ThisArchitecture, Element, head_dim, Shape, masked, slice_dim>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        attention_forward_block<T>(params, shared);
    }
}

template <typename Element, int head_dim, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) attention_dropout(const __grid_constant__ ForwardParams params) {
    using T = DropoutTraits<ThisArchitecture, Element, head_dim, Shape>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        attention_forward_block<T>(params, shared);
    }
}

template <typename Element, int head_dim, int warps, int tile_n>
__global__ void __launch_bounds__(32 * warps, 1) attention_short_keys(const __grid_constant__ ForwardParams params) {
    using T = ShortTraits<ThisArchitecture, Element, head_dim, warps, tile_n>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        short_keys_block<T>(params, shared);
    }
}

template <typename Element, int head_dim, class Shape, bool masked>
__global__ void __launch_bounds__(Shape::threads, 1) attention_int8(const __grid_constant__ Int8Params params) {
    using T = Int8Traits<ThisArchitecture, Element, head_dim, Shape, masked>;
    if constexpr (kRunsInt8Here<T>) {
        extern __shared__ __align__(128) char shared[];
        int8_forward_block<T>(params, shared);
    }
}

template <typename Element, int head_dim, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) attention_int8_all(const __grid_constant__ Int8Params params) {
    using T = Int8AllTraits<ThisArchitecture, Element, head_dim, Shape>;
    if constexpr (kRunsInt8Here<T>) {
        extern __shared__ __align__(128) char shared[];
        int8_all_block<T>(params, shared);
    }
}

template <typename Element, int head_dim, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) attention_int8_fp8(const __grid_constant__ Int8Params params) {
    using T = Int8Fp8Traits<Fp8Architecture, Element, head_dim, Shape>;
    if constexpr (T::Architecture::has_fp8_products) {
        extern __shared__ __align__(128) char shared[];
        int8_all_block<T>(params, shared);
    }
}

template <typename Element, int head_dim, class Shape, bool masked>
__global__ void __launch_bounds__(Shape::threads, 1) attention_half_sums(const __grid_constant__ Int8Params params) {
    using T = HalfSumsTraits<ThisArchitecture, Element, head_dim, Shape, masked>;
    if constexpr (kRunsHere<T> && kHalves32BitSums) {
        extern __shared__ __align__(128) char shared[];
        half_sums_block<T>(params, shared);
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

template <class T>
Instance described(Kind kind, Entry entry, Entry turing_entry) {
    using Shape = typename T::Shape;
    Instance made{};
    made.head_dim = T::head_dim;
    made.slice_dim = T::slice_dim;
    made.dtype = dtype_of<typename T::Element>();
    made.masked = T::masked;
    made.kind = kind;
    made.tile_m = Shape::tile_m;
    made.tile_n = Shape::tile_n;
    made.rows_per_warp = Shape::rows_per_warp;
    made.threads = Shape::threads;
    made.shared_bytes = T::shared_bytes;
    made.entry = entry;
    made.turing_entry = turing_entry;
    return made;
}

template <typename Element, int head_dim, class Shape, bool masked, int slice_dim = head_dim>
Instance instance() {
    using T = Traits<Ampere, Element, head_dim, Shape, masked, slice_dim>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(Kind::forward, &run_forward<T>,
                        &run_forward<Traits<Turing, Element, head_dim, Shape, masked, slice_dim>>);
#else
    const auto kernel = reinterpret_cast<Entry>(&attention_forward<Element, head_dim, Shape, masked, slice_dim>);
    return described<T>(Kind::forward, kernel, kernel);
#endif
}

template <typename Element, int head_dim, class Shape>
Instance dropout_instance() {
    using T = DropoutTraits<Ampere, Element, head_dim, Shape>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(Kind::dropout, &run_forward<T>, &run_forward<DropoutTraits<Turing, Element, head_dim, Shape>>);
#else
    const auto kernel = reinterpret_cast<Entry>(&attention_dropout<Element, head_dim, Shape>);
    return described<T>(Kind::dropout, kernel, kernel);
#endif
}

template <typename Element, int head_dim, int warps, int tile_n>
Instance short_instance() {
    using T = ShortTraits<Ampere, Element, head_dim, warps, tile_n>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(Kind::short_keys, &run_short<T>,
                        &run_short<ShortTraits<Turing, Element, head_dim, warps, tile_n>>);
#else
    const auto kernel = reinterpret_cast<Entry>(&attention_short_keys<Element, head_dim, warps, tile_n>);
    return described<T>(Kind::short_keys, kernel, kernel);
#endif
}

template <typename Element, int head_dim, class Shape, bool masked>
Instance int8_instance() {
    using T = Int8Traits<Ampere, Element, head_dim, Shape, masked>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(Kind::int8, &run_int8<T>, &run_int8<Int8Traits<Turing, Element, head_dim, Shape, masked>>);
#else
    const auto kernel = reinterpret_cast<Entry>(&attention_int8<Element, head_dim, Shape, masked>);
    return described<T>(Kind::int8, kernel, kernel);
#endif
}

template <typename Element, int head_dim, class Shape>
Instance int8_all_instance() {
    using T = Int8AllTraits<Ampere, Element, head_dim, Shape>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(Kind::int8_all, &run_int8_all<T>,
                        &run_int8_all<Int8AllTraits<Turing, Element, head_dim, Shape>>);
#else
    const auto kernel = reinterpret_cast<Entry>(&attention_int8_all<Element, head_dim, Shape>);
    return described<T>(Kind::int8_all, kernel, kernel);
#endif
}

template <typename Element, int head_dim, class Shape>
Instance int8_fp8_instance() {
    using T = Int8Fp8Traits<Ada, Element, head_dim, Shape>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(Kind::int8_fp8, &run_int8_fp8<T>,
                        &run_int8_fp8<Int8Fp8Traits<Turing, Element, head_dim, Shape>>);
#else
    const auto kernel = reinterpret_cast<Entry>(&attention_int8_fp8<Element, head_dim, Shape>);
    return described<T>(Kind::int8_fp8, kernel, kernel);
#endif
}

template <typename Element, int head_dim, class Shape, bool masked>
Instance half_sums_instance() {
    using T = HalfSumsTraits<Ampere, Element, head_dim, Shape, masked>;
#ifdef MEZZOTINT_EMULATOR
    return described<T>(Kind::half_sums, &run_half_sums<T>,
                        &run_half_sums<HalfSumsTraits<Turing, Element, head_dim, Shape, masked>>);
#else
    const auto kernel = reinterpret_cast<Entry>(&attention_half_sums<Element, head_dim, Shape, masked>);
    return described<T>(Kind::half_sums, kernel, kernel);
#endif
}

}  // namespace mezzotint
