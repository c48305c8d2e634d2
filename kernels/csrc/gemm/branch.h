// The branch of low rank: sums += branch_x branch_up', 16-bit numbers with 32-bit sums, after the main loop and through
// the same shared memory. A tile has 32 columns; two of them, which is the usual rank or twice it, arrive at once.
#pragma once

#include "mainloop.h"

namespace mezzotint::gemm {

template <class T>
MZT_DEVICE void add_branch(float (&sums)[T::Shape::m_tiles][T::Shape::n_tiles][4], const LinearParams& params,
                           const Place& place, uint32_t shared) {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;
    constexpr int at_once = 2;
    RowTiles<Architecture, Shape::tile_m, Shape::threads, at_once> x(
        static_cast<const char*>(params.branch_x) + place.first_row * params.branch_x_stride, params.branch_x_stride,
        params.rows - place.first_row, params.rank * 2, shared);
    RowTiles<Architecture, Shape::tile_n, Shape::threads, at_once> up(
        static_cast<const char*>(params.branch_up) + place.first_column * params.branch_up_stride,
        params.branch_up_stride, params.out_columns - place.first_column, params.rank * 2, shared + T::weight_begin);
    const int tiles = (params.rank * 2 + kTileDepth - 1) / kTileDepth;
#pragma unroll 1
    for (int first = 0; first < tiles; first += at_once) {
        const int last = first + at_once < tiles ? first + at_once : tiles;
        barrier();  // all are done with what lies there
#pragma unroll 1
        for (int tile = first; tile < last; ++tile) {
            x.begin(tile);
            x.end(tile);
            up.begin(tile);
            up.end(tile);
        }
        commit_copies<Architecture>();
        wait_copies<Architecture, 0>();
        barrier();  // these columns are there for all
#pragma unroll 1
        for (int tile = first; tile < last; ++tile) multiply_tile<T>(sums, x.at(tile), up.at(tile));
    }
}

}  // namespace mezzotint::gemm
