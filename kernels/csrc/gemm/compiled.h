// Kernels out of templates: what each file of instances/ is made of.
#pragma once

#include "instance.h"
#include "kernel.h"

namespace mezzotint::gemm {

// Rows and columns of the output: what a block makes of them. More rows to a warp read weights less often.
using Shape256x128 = Shape<4, 2, 4, 8, 4>;
using Shape128x128 = Shape<2, 2, 4, 8, 3>;
using Shape128x64 = Shape<2, 2, 4, 4, 3>;
using Shape64x64 = Shape<2, 2, 2, 4, 4>;
// Floats of 8 bits need registers for the sums of a tile, too.
using Fp8Shape128x128 = Shape<2, 4, 4, 4, 3>;

template <typename Element>
constexpr MztDtype kDtypeOf = MZT_FLOAT16;
template <>
inline constexpr MztDtype kDtypeOf<bfloat16> = MZT_BFLOAT16;

// Turing multiplies no bfloat16, which a branch would have; others are compiled to nothing for it.
template <class T>
constexpr bool kRunsHere = T::Architecture::has_int8_products &&
                           (T::Architecture::mma_k == 16 || kDtypeOf<typename T::Element> == MZT_FLOAT16);

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_linear(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) linear_block<T>(*static_cast<const LinearParams*>(params), shared);
}

#else

template <typename Element, int weight_bits, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) linear_product(const __grid_constant__ LinearParams params) {
    using T = Traits<ThisArchitecture, Element, weight_bits, Shape>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        linear_block<T>(params, shared);
    }
}

template <typename Element, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) int4_linear_product(const __grid_constant__ LinearParams params) {
    using T = Traits<Int4Architecture, Element, 4, Shape, 4>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        linear_block<T>(params, shared);
    }
}

template <typename Element, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) codebook_linear_product(
    const __grid_constant__ LinearParams params) {
    using T = Traits<ThisArchitecture, Element, 4, Shape, 8, true>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        linear_block<T>(params, shared);
    }
}

#endif

// Without its entries.
template <class T, class OnTuring>
Instance described() {
    using Shape = typename T::Shape;
    Instance made{};
    made.weight_bits = T::weight_bits;
    made.x_bits = T::x_bits;
    made.dtype = kDtypeOf<typename T::Element>;
    made.tile_m = Shape::tile_m;
    made.tile_n = Shape::tile_n;
    made.rows_per_warp = 16 * Shape::m_tiles;
    made.columns_per_warp = 8 * Shape::n_tiles;
    made.threads = Shape::threads;
    made.shared_bytes = T::shared_bytes;
    made.turing_shared_bytes = OnTuring::shared_bytes;
    made.is_grouped = T::has_group_scales;
    made.has_codebook = T::has_codebook;
    made.is_gated = T::is_gated;
    return made;
}

template <typename Element, int weight_bits, class Shape, int x_bits = 8>
Instance instance() {
    using T = Traits<Ampere, Element, weight_bits, Shape, x_bits>;
    using OnTuring = Traits<Turing, Element, weight_bits, Shape, x_bits>;
    Instance made = described<T, OnTuring>();
#ifdef MEZZOTINT_EMULATOR
    made.entry = &run_linear<T>;
    made.turing_entry = &run_linear<OnTuring>;
    made.hopper_entry = made.entry;
    if constexpr (x_bits == 4) made.hopper_entry = &run_linear<Traits<Hopper, Element, weight_bits, Shape, x_bits>>;
#else
    if constexpr (x_bits == 4) {
        made.entry = reinterpret_cast<Entry>(&int4_linear_product<Element, Shape>);
    } else {
        made.entry = reinterpret_cast<Entry>(&linear_product<Element, weight_bits, Shape>);
    }
    made.turing_entry = made.hopper_entry = made.entry;
#endif
    return made;
}

template <typename Element, class Shape>
Instance codebook_instance() {
    using T = Traits<Ampere, Element, 4, Shape, 8, true>;
    using OnTuring = Traits<Turing, Element, 4, Shape, 8, true>;
    Instance made = described<T, OnTuring>();
#ifdef MEZZOTINT_EMULATOR
    made.entry = made.hopper_entry = &run_linear<T>;
    made.turing_entry = &run_linear<OnTuring>;
#else
    made.entry = made.turing_entry = made.hopper_entry =
        reinterpret_cast<Entry>(&codebook_linear_product<Element, Shape>);
#endif
    return made;
}

// The kernel of floats of 8 bits, which is compiled to nothing for architectures that do not multiply them.
#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_fp8_linear(const void* params, void* shared) {
    if constexpr (kEmulated) linear_block<T>(*static_cast<const LinearParams*>(params), shared);
}

#else

template <typename Element, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) fp8_linear_product(const __grid_constant__ LinearParams params) {
    using T = Fp8Traits<Fp8Architecture, Element, Shape>;
    if constexpr (T::Architecture::has_fp8_products) {
        extern __shared__ __align__(128) char shared[];
        linear_block<T>(params, shared);
    }
}

#endif

template <typename Element, class Shape>
Instance fp8_instance() {
    using T = Fp8Traits<Ada, Element, Shape>;
    Instance made{};
    made.weight_bits = made.x_bits = 8;
    made.floats = true;
    made.dtype = kDtypeOf<Element>;
    made.tile_m = Shape::tile_m;
    made.tile_n = Shape::tile_n;
    made.rows_per_warp = 16 * Shape::m_tiles;
    made.columns_per_warp = 8 * Shape::n_tiles;
    made.threads = Shape::threads;
    made.shared_bytes = made.turing_shared_bytes = T::shared_bytes;
#ifdef MEZZOTINT_EMULATOR
    made.entry = &run_fp8_linear<T>;
#else
    made.entry = reinterpret_cast<Entry>(&fp8_linear_product<Element, Shape>);
#endif
    made.turing_entry = made.hopper_entry = made.entry;
    return made;
}

}  // namespace mezzotint::gemm
