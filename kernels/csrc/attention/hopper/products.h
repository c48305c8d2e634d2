// The two products of a group of four warps over one tile of keys, begun here and waited for elsewhere.
#pragma once

#include "traits.h"

namespace mezzotint {

// s = q k^T: rows of both lie along the depth, so the next 16 columns are a few bytes further, or in the next panel.
template <class T>
MZT_DEVICE void begin_scores(float (&s)[T::n_tiles][4], uint32_t queries, uint32_t keys) {
    const uint64_t q = matrix_descriptor(queries, 16, T::eights, T::row_bytes);
    const uint64_t k = matrix_descriptor(keys, 16, T::eights, T::row_bytes);
#pragma unroll
    for (int column = 0; column < T::head_dim; column += 16) {
        const int panel = column / T::columns, within = column % T::columns * 2;
        SharedProduct<typename T::Element, T::Shape::tile_n>::begin(
            s, q + (panel * T::q_panel + within) / 16, k + (panel * T::kv_panel + within) / 16, column > 0);
    }
}

// out += p v: rows of the values are along the depth's other side, so 16 keys are 16 rows, in all panels at once.
template <class T>
MZT_DEVICE void begin_outputs(float (&out)[T::out_tiles][4], const uint32_t (&p)[T::n_tiles / 2][4], uint32_t values) {
    const uint64_t v = matrix_descriptor(values, T::kv_panel, T::eights, T::row_bytes);
#pragma unroll
    for (int step = 0; step < T::n_tiles / 2; ++step) {
        RegisterProduct<typename T::Element, T::head_dim>::begin(out, p[step], v + step * 16 * T::row_bytes / 16);
    }
}

// Weights as the left side of a product: two fragments of scores side by side.
template <class T>
MZT_DEVICE void pack_weights(uint32_t (&p)[T::n_tiles / 2][4], const float (&s)[T::n_tiles][4]) {
#pragma unroll
    for (int n = 0; n < T::n_tiles; ++n) {
        p[n / 2][n % 2 * 2] = pack<typename T::Weight>(s[n][0], s[n][1]);
        p[n / 2][n % 2 * 2 + 1] = pack<typename T::Weight>(s[n][2], s[n][3]);
    }
}

}  // namespace mezzotint
