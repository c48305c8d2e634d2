// Products of few rows: several blocks share a tile of the output, each with a part of x's columns, and leave their sums in
// the workspace; a second kernel adds them up, in the order of the columns, and ends as the others do.
#pragma once

#include "compiled.h"

namespace mezzotint::gemm {

template <class Architecture, typename Element, class Shape>
struct SplitTraits : Traits<Architecture, Element, 8, Shape> {
    static constexpr bool is_split = true;
};

// This thread's sums of a block, four of them in the place of a number: those of a warp lie beside each other.
template <class T>
MZT_DEVICE Chunk* partial_sums(const LinearParams& params, uint32_t block, int number) {
    constexpr uint32_t numbers = T::Shape::m_tiles * T::Shape::n_tiles;
    const int64_t chunk = static_cast<int64_t>(block * numbers + number) * T::Shape::threads + thread_index();
    return static_cast<Chunk*>(params.partial_sums) + chunk;
}

template <class T>
MZT_DEVICE void split_block(const LinearParams& params, void* shared) {
    const uint32_t tiles = params.row_tiles * params.column_tiles;
    Place place = place_of<T>(params, block_index() % tiles);
    place.split = static_cast<int>(block_index() / tiles);
    Mainloop<T> loop(params, layer_of<T>(params, place), place, shared_address(shared));
    loop.run();
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int n = 0; n < T::Shape::n_tiles; ++n) {
            Chunk four;
#pragma unroll
            for (int each = 0; each < 4; ++each) four.words[each] = static_cast<uint32_t>(loop.sums[m][n][each]);
            *partial_sums<T>(params, block_index(), m * T::Shape::n_tiles + n) = four;
        }
    }
}

template <class T>
MZT_DEVICE void join_block(const LinearParams& params, void* shared) {
    const Place place = place_of<T>(params, block_index());
    const uint32_t tiles = params.row_tiles * params.column_tiles;
    int32_t sums[T::Shape::m_tiles][T::Shape::n_tiles][4] = {};
#pragma unroll 1
    for (int split = 0; split < params.splits; ++split) {
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
            for (int n = 0; n < T::Shape::n_tiles; ++n) {
                const Chunk four =
                    *partial_sums<T>(params, split * tiles + block_index(), m * T::Shape::n_tiles + n);
#pragma unroll
                for (int each = 0; each < 4; ++each) sums[m][n][each] += static_cast<int32_t>(four.words[each]);
            }
        }
    }
    finish_block<T>(sums, params, layer_of<T>(params, place), place, shared);
}

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_split(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) split_block<T>(*static_cast<const LinearParams*>(params), shared);
}

template <class T>
void run_join(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) join_block<T>(*static_cast<const LinearParams*>(params), shared);
}

#else

template <typename Element, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) split_linear_product(const __grid_constant__ LinearParams params) {
    using T = SplitTraits<ThisArchitecture, Element, Shape>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        split_block<T>(params, shared);
    }
}

template <typename Element, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) join_linear_product(const __grid_constant__ LinearParams params) {
    using T = SplitTraits<ThisArchitecture, Element, Shape>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        join_block<T>(params, shared);
    }
}

#endif

template <typename Element, class Shape>
Instance split_instance() {
    using T = SplitTraits<Ampere, Element, Shape>;
    using OnTuring = SplitTraits<Turing, Element, Shape>;
    Instance made = described<T, OnTuring>();
#ifdef MEZZOTINT_EMULATOR
    made.entry = made.hopper_entry = &run_split<T>;
    made.turing_entry = &run_split<OnTuring>;
    made.join_entry = &run_join<T>;
    made.turing_join_entry = &run_join<OnTuring>;
#else
    made.entry = made.turing_entry = made.hopper_entry =
        reinterpret_cast<Entry>(&split_linear_product<Element, Shape>);
    made.join_entry = made.turing_join_entry = reinterpret_cast<Entry>(&join_linear_product<Element, Shape>);
#endif
    return made;
}

}  // namespace mezzotint::gemm
