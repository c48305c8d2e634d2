// The softmax over keys that come a tile at a time (arXiv 2307.08691, algorithm 1).
//
// Each row keeps the largest score m so far and the sum l of exp(score - m); what was summed under an older m is scaled
// by exp(m_old - m_new). Scores stay as the product gave them: exp(c (s - m)) is one multiply-add and one 2^x, where the
// factor c holds the scale and log2(e). Rows that have seen nothing have m = -inf, l = 0.
#pragma once

#include <math.h>

#include "traits.h"

namespace mezzotint {

constexpr float kLn2 = 0.6931471805599453f;

// Of the two rows (lane / 4, and 8 below) that this thread shares with the three others of its four.
struct RowState {
    float m[2] = {-INFINITY, -INFINITY};
    float l[2] = {0, 0};  // of this thread's own columns; summed over the four at the very end
};

// Scores become weights in place, and what was gathered under the old maximum is scaled.
template <class T>
MZT_DEVICE void update_softmax(float (&s)[T::n_tiles][4], float (&out)[T::out_tiles][4], RowState& state, float factor) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float m = state.m[half];
#pragma unroll
        for (int n = 0; n < T::n_tiles; ++n) m = fmaxf(m, fmaxf(s[n][2 * half], s[n][2 * half + 1]));
        m = fmaxf(m, shuffle_xor(m, 1));
        m = fmaxf(m, shuffle_xor(m, 2));
        const float base = m == -INFINITY ? 0 : m * factor;  // -inf - -inf would be no number
        const float kept = exp2_approximate(state.m[half] * factor - base);
        state.m[half] = m;
        float l = state.l[half] * kept;
#pragma unroll
        for (int n = 0; n < T::n_tiles; ++n) {
#pragma unroll
            for (int each = 2 * half; each < 2 * half + 2; ++each) {
                s[n][each] = exp2_approximate(fmaf(s[n][each], factor, -base));
                l += s[n][each];
            }
        }
        state.l[half] = l;
#pragma unroll
        for (int o = 0; o < T::out_tiles; ++o) {
            out[o][2 * half] *= kept;
            out[o][2 * half + 1] *= kept;
        }
    }
}

// The whole row's sum.
MZT_DEVICE float row_sum(float l) {
    l += shuffle_xor(l, 1);
    return l + shuffle_xor(l, 2);
}

}  // namespace mezzotint
