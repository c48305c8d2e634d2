// The two products of attention over one tile of keys, from shared memory into a warp's registers.
#pragma once

#include "shared_tile.h"
#include "traits.h"

namespace mezzotint {

// s += q k^T for tile_n keys. `first` and `rest` are this lane's addresses of 16 keys by 16 columns and of 32 keys by
// the last 8; `source.queries(q, m, k)` and `source.query_rest(q, m)` give the left side.
template <class T, class Source>
MZT_DEVICE void multiply_keys(float (&s)[T::Shape::m_tiles][T::n_tiles][4], uint32_t first, uint32_t rest,
                              const Source& source) {
    using Tile = SharedTile<T::head_dim>;
    using Architecture = typename T::Architecture;
    using Element = typename T::Element;
#pragma unroll
    for (int k = 0; k < T::k_steps; ++k) {
        uint32_t q[T::Shape::m_tiles][4];
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) source.queries(q[m], m, k);
#pragma unroll
        for (int n = 0; n < T::n_tiles; n += 2) {
            uint32_t b[4];
            load_matrices(b, Tile::at(first, n * 8, 2 * k));
#pragma unroll
            for (int m = 0; m < T::Shape::m_tiles; ++m) {
                multiply<Architecture, Element>(s[m][n], q[m], b[0], b[1]);
                multiply<Architecture, Element>(s[m][n + 1], q[m], b[2], b[3]);
            }
        }
    }
    if constexpr (T::k_rest) {
        uint32_t q[T::Shape::m_tiles][2];
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) source.query_rest(q[m], m);
#pragma unroll
        for (int n = 0; n < T::n_tiles; n += 4) {
            uint32_t b[4];
            load_matrices(b, Tile::at(rest, n * 8, 2 * T::k_steps));
#pragma unroll
            for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
                for (int each = 0; each < 4; ++each) {
                    multiply_k8<Element>(s[m][n + each], q[m][0], q[m][1], b[each]);
                }
            }
        }
    }
}

// Weights as the product's left side: the fragments of the scores, packed, are just that.
template <class T>
MZT_DEVICE void pack_weights(uint32_t (&to)[T::Shape::m_tiles][T::n_tiles / 2][4],
                             const float (&s)[T::Shape::m_tiles][T::n_tiles][4]) {
    using Element = typename T::Weight;
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int k = 0; k < T::n_tiles / 2; ++k) {
            to[m][k][0] = pack<Element>(s[m][2 * k][0], s[m][2 * k][1]);
            to[m][k][1] = pack<Element>(s[m][2 * k][2], s[m][2 * k][3]);
            to[m][k][2] = pack<Element>(s[m][2 * k + 1][0], s[m][2 * k + 1][1]);
            to[m][k][3] = pack<Element>(s[m][2 * k + 1][2], s[m][2 * k + 1][3]);
        }
    }
}

// out += p v for the tile of values that begins at `values`.
template <class T>
MZT_DEVICE void multiply_values(float (&out)[T::Shape::m_tiles][T::out_tiles][4],
                                const uint32_t (&p)[T::Shape::m_tiles][T::n_tiles / 2][4], uint32_t values) {
    using Tile = SharedTile<T::slice_dim>;
    using Architecture = typename T::Architecture;
    using Element = typename T::Element;
    const int lane = thread_index() % 32;
    const uint32_t first = Tile::first(values, lane % 16, lane / 16);
    const uint32_t rest = Tile::first(values, lane % 16, 0);
#pragma unroll
    for (int k = 0; k < T::n_tiles / 2; ++k) {
#pragma unroll
        for (int o = 0; o + 1 < T::out_tiles; o += 2) {
            uint32_t b[4];
            load_matrices_transposed(b, Tile::at(first, k * 16, o));
#pragma unroll
            for (int m = 0; m < T::Shape::m_tiles; ++m) {
                multiply<Architecture, Element>(out[m][o], p[m][k], b[0], b[1]);
                multiply<Architecture, Element>(out[m][o + 1], p[m][k], b[2], b[3]);
            }
        }
        if constexpr (T::out_tiles % 2 != 0) {
            uint32_t b[2];
            load_matrices_transposed(b, Tile::at(rest, k * 16, T::out_tiles - 1));
#pragma unroll
            for (int m = 0; m < T::Shape::m_tiles; ++m) {
                multiply<Architecture, Element>(out[m][T::out_tiles - 1], p[m][k], b[0], b[1]);
            }
        }
    }
}

// The left half of two tiles of 8 columns, or both.
template <bool both>
MZT_DEVICE void load_values(uint32_t (&b)[4], uint32_t address) {
    if constexpr (both) {
        load_matrices_transposed(b, address);
    } else {
        uint32_t two[2];
        load_matrices_transposed(two, address);
        b[0] = two[0];
        b[1] = two[1];
    }
}

// out += p v for 16 columns from the `o`th eight on, or the last 8: 16-bit sums over the tile's keys.
template <class T, bool both>
MZT_DEVICE void multiply_columns(float (&out)[T::Shape::m_tiles][T::out_tiles][4],
                                 const uint32_t (&p)[T::Shape::m_tiles][T::n_tiles / 2][4], uint32_t first, int o) {
    using Tile = SharedTile<T::slice_dim>;
    uint32_t sums[T::Shape::m_tiles][2][2] = {};
#pragma unroll
    for (int k = 0; k < T::n_tiles / 2; ++k) {
        uint32_t b[4];
        load_values<both>(b, Tile::at(first, k * 16, o));
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) {
            multiply_half<typename T::Architecture>(sums[m][0], p[m][k], b[0], b[1]);
            if constexpr (both) multiply_half<typename T::Architecture>(sums[m][1], p[m][k], b[2], b[3]);
        }
    }
#pragma unroll
    for (int each = 0; each < T::Shape::m_tiles * (1 + both); ++each) {
        const int m = each / (1 + both), right = each % (1 + both);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            out[m][o + right][2 * half] += low_half(sums[m][right][half]);
            out[m][o + right][2 * half + 1] += high_half(sums[m][right][half]);
        }
    }
}

// The same as multiply_values() in two levels, for float16: GPUs that halve the rate of products with 32-bit sums do not
// halve that of these.
template <class T>
MZT_DEVICE void multiply_values_by_tile(float (&out)[T::Shape::m_tiles][T::out_tiles][4],
                                        const uint32_t (&p)[T::Shape::m_tiles][T::n_tiles / 2][4], uint32_t values) {
    using Tile = SharedTile<T::slice_dim>;
    const int lane = thread_index() % 32;
    const uint32_t first = Tile::first(values, lane % 16, lane / 16);
#pragma unroll
    for (int o = 0; o + 1 < T::out_tiles; o += 2) multiply_columns<T, true>(out, p, first, o);
    if constexpr (T::out_tiles % 2 != 0) {
        multiply_columns<T, false>(out, p, Tile::first(values, lane % 16, 0), T::out_tiles - 1);
    }
}

}  // namespace mezzotint
