// What a warp multiplies of a tile in shared memory: 64 bytes of each row of both sides, which are two steps of 32
// integers of 8 bits, of 64 of 4, or of 16 numbers of 16 bits. All kinds of `mma` take their fragments from the same
// loads.
#pragma once

#include "row_tiles.h"

namespace mezzotint::gemm {

// Where a warp is in its block's tile of the output.
template <class T>
MZT_DEVICE int warp_row() {
    return thread_index() / 32 / T::Shape::warps_n * (16 * T::Shape::m_tiles);
}
template <class T>
MZT_DEVICE int warp_column() {
    return thread_index() / 32 % T::Shape::warps_n * (8 * T::Shape::n_tiles);
}

template <class T>
MZT_DEVICE void multiply_step(int32_t (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (T::x_bits == 4) {
        multiply_int4<typename T::Architecture>(sums, a, b0, b1);
    } else {
        multiply_int8<typename T::Architecture>(sums, a, b0, b1);
    }
}
template <class T>
MZT_DEVICE void multiply_step(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    multiply<typename T::Architecture, typename T::Element>(sums, a, b0, b1);
}

// sums += x weight', for tiles of x and weight that begin at these addresses.
template <class T, typename Sum>
MZT_DEVICE void multiply_tile(Sum (&sums)[T::Shape::m_tiles][T::Shape::n_tiles][4], uint32_t x, uint32_t weight) {
    const int lane = thread_index() % 32;
    const uint32_t x_first = ByteTile::first(x, warp_row<T>() + lane % 16, lane / 16);
    const uint32_t weight_first =
        ByteTile::first(weight, warp_column<T>() + lane % 8 + lane / 16 * 8, lane / 8 % 2);
#pragma unroll
    for (int chunk = 0; chunk < ByteTile::chunks; chunk += 2) {
        uint32_t a[T::Shape::m_tiles][4];
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) load_matrices(a[m], ByteTile::at(x_first, m * 16, chunk));
#pragma unroll
        for (int n = 0; n < T::Shape::n_tiles; n += 2) {
            uint32_t b[4];
            load_matrices(b, ByteTile::at(weight_first, n * 8, chunk));
#pragma unroll
            for (int m = 0; m < T::Shape::m_tiles; ++m) {
                multiply_step<T>(sums[m][n], a[m], b[0], b[1]);
                multiply_step<T>(sums[m][n + 1], a[m], b[2], b[3]);
            }
        }
    }
}

}  // namespace mezzotint::gemm
