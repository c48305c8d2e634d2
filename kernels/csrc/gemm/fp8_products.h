// What a warp multiplies of a tile of floats of 8 bits: tensor cores keep too few bits of long sums, so that those of each
// tile, 64 products, are added to the true ones by additions of 32 bits.
#pragma once

#include "products.h"

namespace mezzotint::gemm {

// 8 columns of x and the weight in all chunks of a tile.
template <int tiles>
using Fp8Fragments = uint32_t[ByteTile::chunks / 2][tiles][4];

template <class T>
MZT_DEVICE void add_fp8_columns(float (&sums)[2][4], const Fp8Fragments<T::Shape::m_tiles>& a,
                                const Fp8Fragments<1>& b, int m) {
    float of_tile[2][4] = {};
#pragma unroll
    for (int step = 0; step < ByteTile::chunks / 2; ++step) {
        multiply_fp8_k32(of_tile[0], a[step][m], b[step][0][0], b[step][0][1]);
        multiply_fp8_k32(of_tile[1], a[step][m], b[step][0][2], b[step][0][3]);
    }
#pragma unroll
    for (int each = 0; each < 4; ++each) {
        sums[0][each] += of_tile[0][each];
        sums[1][each] += of_tile[1][each];
    }
}

// sums += x weight', for tiles of x and weight that begin at these addresses.
template <class T>
MZT_DEVICE void add_fp8_tile(float (&sums)[T::Shape::m_tiles][T::Shape::n_tiles][4], uint32_t x, uint32_t weight) {
    const int lane = thread_index() % 32;
    const uint32_t x_first = ByteTile::first(x, warp_row<T>() + lane % 16, lane / 16);
    const uint32_t weight_first = ByteTile::first(weight, warp_column<T>() + lane % 8 + lane / 16 * 8, lane / 8 % 2);
    Fp8Fragments<T::Shape::m_tiles> a;
#pragma unroll
    for (int chunk = 0; chunk < ByteTile::chunks; chunk += 2) {
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) load_matrices(a[chunk / 2][m], ByteTile::at(x_first, m * 16, chunk));
    }
#pragma unroll
    for (int n = 0; n < T::Shape::n_tiles; n += 2) {
        Fp8Fragments<1> b;
#pragma unroll
        for (int chunk = 0; chunk < ByteTile::chunks; chunk += 2) {
            load_matrices(b[chunk / 2][0], ByteTile::at(weight_first, n * 8, chunk));
        }
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) {
            float(&both)[2][4] = reinterpret_cast<float(&)[2][4]>(sums[m][n]);
            add_fp8_columns<T>(both, a, b, m);
        }
    }
}

}  // namespace mezzotint::gemm
