// Kernels out of templates: what each file of instances/ is made of.
#pragma once

#include "../compiled.h"
#include "instance.h"
#include "kernel.h"

namespace mezzotint::block_scaled {

// Of 99 kB of shared memory, one block of the first fits, and two of the second.
using Shape256x128 = gemm::Shape<4, 2, 4, 8, 3>;
using Shape128x64 = gemm::Shape<2, 2, 4, 4, 3>;

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_linear(const void* params, void* shared) {
    if constexpr (kEmulated) linear_block<T>(*static_cast<const BlockScaledParams*>(params), shared);
}

#else

// The format as a number, which is readable in the kernel's name.
template <typename Element, int format, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    block_scaled_linear_product(const __grid_constant__ BlockScaledParams params) {
    if constexpr (kHasBlockScales) {
        extern __shared__ __align__(128) char shared[];
        linear_block<Traits<Element, static_cast<MztBlockFormat>(format), Shape>>(params, shared);
    }
}

#endif

// Products per multiprocessor and cycle, on a GeForce card of compute capability 12.0.
constexpr int products_per_cycle(MztBlockFormat format) { return format == MZT_NVFP4 ? 2048 : 1024; }

template <typename Element, MztBlockFormat format, class Shape>
Instance instance() {
    using T = Traits<Element, format, Shape>;
    Instance made{};
    made.format = format;
    made.tile.weight_bits = made.tile.x_bits = format == MZT_NVFP4 ? 4 : 8;
    made.tile.dtype = gemm::kDtypeOf<Element>;
    made.tile.tile_m = Shape::tile_m;
    made.tile.tile_n = Shape::tile_n;
    made.tile.rows_per_warp = 16 * Shape::m_tiles;
    made.tile.columns_per_warp = 8 * Shape::n_tiles;
    made.tile.threads = Shape::threads;
    made.tile.shared_bytes = T::shared_bytes;
    made.tile.products_per_cycle = products_per_cycle(format);
#ifdef MEZZOTINT_EMULATOR
    made.tile.entry = &run_linear<T>;
#else
    made.tile.entry = reinterpret_cast<Entry>(&block_scaled_linear_product<Element, format, Shape>);
#endif
    return made;
}

}  // namespace mezzotint::block_scaled
