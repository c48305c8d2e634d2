// The softmax over keys that come a tile at a time (arXiv 2307.08691, algorithm 1).
//
// Each row keeps a score m and the sum l of the weights exp(score - m) so far. m begins as the largest score of the
// first tile, and is left behind while scores exceed it by less than 2^8 in their weights: nothing that was gathered is
// scaled then, and four threads need not agree on a tile's largest score. A warp votes on it; where a row of it has a
// score farther out, its rows take their largest scores as m, and what they gathered is scaled by exp(m_old - m_new).
//
// Scores stay as the product gave them: exp(c (s - m)) is one multiply-add and one 2^x, where the factor c holds the
// scale and log2(e). A row that has seen nothing has l = 0, and the lowest m, which is finite: hidden scores are -inf,
// and the difference is a number.
#pragma once

#include <float.h>
#include <math.h>

#include "traits.h"

namespace mezzotint {

constexpr float kLn2 = 0.6931471805599453f;
constexpr float kMostBehind = 8;  // of m, as a power of 2: weights are at most 256

// Of the two rows (lane / 4, and 8 below) that this thread shares with the three others of its four.
struct RowState {
    float m[2] = {-FLT_MAX, -FLT_MAX};  // times the factor
    float l[2] = {0, 0};                // of this thread's own columns; summed over the four at the very end
};

// The largest of this thread's scores of a row.
template <class T>
MZT_DEVICE float own_maximum(const float (&s)[T::n_tiles][4], int half) {
    float most = -INFINITY;
#pragma unroll
    for (int n = 0; n < T::n_tiles; ++n) most = fmaxf(most, fmaxf(s[n][2 * half], s[n][2 * half + 1]));
    return most;
}

// The largest of the four threads that share a row.
MZT_DEVICE float row_maximum(float most) {
    most = fmaxf(most, shuffle_xor(most, 1));
    return fmaxf(most, shuffle_xor(most, 2));
}

// What was gathered under an m is scaled to one that is `most` or more.
template <class T>
MZT_DEVICE void raise_maximum(float (&out)[T::out_tiles][4], RowState& state, int half, float most) {
    const float m = fmaxf(state.m[half], most);
    const float kept = exp2_approximate(state.m[half] - m);
    state.m[half] = m;
    state.l[half] *= kept;
#pragma unroll
    for (int o = 0; o < T::out_tiles; ++o) {
        out[o][2 * half] *= kept;
        out[o][2 * half + 1] *= kept;
    }
}

// Scores become weights in place, and are added to their rows' sums.
template <class T>
MZT_DEVICE void take_weights(float (&s)[T::n_tiles][4], RowState& state, float factor) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int n = 0; n < T::n_tiles; ++n) {
#pragma unroll
            for (int each = 2 * half; each < 2 * half + 2; ++each) {
                s[n][each] = exp2_approximate(fmaf(s[n][each], factor, -state.m[half]));
                state.l[half] += s[n][each];
            }
        }
    }
}

// Scores become weights in place; where one of the warp's is far above m, what was gathered is scaled.
template <class T>
MZT_DEVICE void update_softmax(float (&s)[T::n_tiles][4], float (&out)[T::out_tiles][4], RowState& state, float factor) {
    const float most[2] = {own_maximum<T>(s, 0), own_maximum<T>(s, 1)};
    const bool far = fmaf(most[0], factor, -state.m[0]) > kMostBehind || fmaf(most[1], factor, -state.m[1]) > kMostBehind;
    if (ballot(far)) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            raise_maximum<T>(out, state, half, row_maximum(most[half]) * factor);
        }
    }
    take_weights<T>(s, state, factor);
}

// The same for the only tile: nothing was gathered.
template <class T>
MZT_DEVICE void whole_softmax(float (&s)[T::n_tiles][4], RowState& state, float factor) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        state.m[half] = fmaxf(-FLT_MAX, row_maximum(own_maximum<T>(s, half)) * factor);
        state.l[half] = 0;
    }
    take_weights<T>(s, state, factor);
}

// The whole row's sum.
MZT_DEVICE float row_sum(float l) {
    l += shuffle_xor(l, 1);
    return l + shuffle_xor(l, 2);
}

}  // namespace mezzotint
