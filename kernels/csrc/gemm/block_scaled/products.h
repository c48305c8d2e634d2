// What a warp multiplies of a tile in shared memory: two steps of 32 bytes of each row, with the scales of their blocks.
#pragma once

#include "../products.h"
#include "scale_tiles.h"

namespace mezzotint::block_scaled {

using gemm::ByteTile;
using gemm::warp_column;
using gemm::warp_row;

// Addresses of a tile's numbers and scales.
struct Tile {
    uint32_t x, weight, x_scales, weight_scales;
};

template <class T>
MZT_DEVICE void multiply_step(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                              const uint32_t (&a_scales)[T::scale_words], const uint32_t (&b_scales)[T::scale_words],
                              int step, int m, int n) {
    const uint16_t a_lane = m % 2, b_lane = n % 2;
    if constexpr (T::format == MZT_NVFP4) {
        multiply_nvfp4(sums, a, b0, b1, a_scales[step], b_scales[step], a_lane, b_lane);
    } else {
        multiply_mxfp8(sums, a, b0, b1, a_scales[0], b_scales[0], static_cast<uint16_t>(step), a_lane, b_lane);
    }
}

// Of the four scales in a word, those of an odd tile are the upper two.
template <class T, int pairs>
MZT_DEVICE void take_half(uint32_t (&scales)[pairs][T::scale_words], int tile) {
    if constexpr (T::format == MZT_MXFP8) {
#pragma unroll
        for (int pair = 0; pair < pairs; ++pair) scales[pair][0] >>= tile % 2 * 16;
    }
}

// sums += x weight', of tile number `number`.
template <class T>
MZT_DEVICE void multiply_tile(float (&sums)[T::Shape::m_tiles][T::Shape::n_tiles][4], const Tile& tile, int number) {
    constexpr int m_tiles = T::Shape::m_tiles, n_tiles = T::Shape::n_tiles;
    const int lane = thread_index() % 32;
    const uint32_t x_first = ByteTile::first(tile.x, warp_row<T>() + lane % 16, lane / 16);
    const uint32_t weight_first =
        ByteTile::first(tile.weight, warp_column<T>() + lane % 8 + lane / 16 * 8, lane / 8 % 2);
    uint32_t a_scales[m_tiles / 2][T::scale_words], b_scales[n_tiles / 2][T::scale_words];
    load_scales_of_rows<T, m_tiles>(a_scales, tile.x_scales, warp_row<T>());
    load_scales_of_columns<T, n_tiles>(b_scales, tile.weight_scales, warp_column<T>());
    take_half<T>(a_scales, number);
    take_half<T>(b_scales, number);
#pragma unroll
    for (int step = 0; step < ByteTile::chunks / 2; ++step) {
        uint32_t a[m_tiles][4];
#pragma unroll
        for (int m = 0; m < m_tiles; ++m) load_matrices(a[m], ByteTile::at(x_first, m * 16, 2 * step));
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            uint32_t b[4];
            load_matrices(b, ByteTile::at(weight_first, n * 8, 2 * step));
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                multiply_step<T>(sums[m][n], a[m], b[0], b[1], a_scales[m / 2], b_scales[n / 2], step, m, n);
                multiply_step<T>(sums[m][n + 1], a[m], b[2], b[3], a_scales[m / 2], b_scales[n / 2], step, m, n + 1);
            }
        }
    }
}

}  // namespace mezzotint::block_scaled
