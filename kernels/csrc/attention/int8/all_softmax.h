// The softmax whose weights are bytes: 255 for the largest of a row's tile of keys, where other kernels have 1.
//
// A tile's weights are rounded under its own maximum, so that small ones of all tiles are as exact, and its sums are
// scaled to the row's when they are added. The row's maximum is left behind while tiles exceed it by less than 2^8:
// only where one exceeds it by more is what was gathered scaled down. Row sums are those of the rounded weights.
#pragma once

#include <math.h>

#include "../softmax.h"
#include "params.h"

namespace mezzotint {

constexpr float kIntegerFloat = 12582912.0f;        // 1.5 * 2^23: a number's lowest bits are an integer's
constexpr int32_t kIntegerBits = 0x4b400000;        // its bits
constexpr float kLog2Of255 = 7.994353436858858f;
constexpr float kLnOf255 = 5.541263545158426f;

// An integer below 2^22 that was summed on top of kIntegerBits.
MZT_DEVICE float summed(int32_t sum) { return float_of(static_cast<uint32_t>(sum)) - kIntegerFloat; }

// Four weights in the order that pack_bytes() is given them.
MZT_DEVICE uint32_t pack_bytes(float a, float b, float c, float d) {
    const uint32_t low = pick_bytes(bits_of(a), bits_of(b), 0x0040), high = pick_bytes(bits_of(c), bits_of(d), 0x0040);
    return pick_bytes(low, high, 0x5410);
}

// The weights of a row's part in a tile: those of this thread, and what the row's tile adds to the whole.
struct TileRow {
    float most[2];   // scores, times the factor
    float share[2];  // what the tile's sums count for
};

// The row's maximum in the tile, and what makes the weight of it 2^log2_of_most.
template <class T>
MZT_DEVICE float weight_shift(TileRow& tile, const float (&s)[T::n_tiles][4], int half, float by, float log2_of_most) {
    const float most = row_maximum(own_maximum<T>(s, half) * by);
    tile.most[half] = most;
    const float base = most == -INFINITY ? 0 : most;
    // Products with `by` are rounded: the largest must not become a step more where scores are very large.
    return log2_of_most - base - fabsf(base) * 0x1p-22f;
}

// Scores s, times `by` in the exponent of 2, become bytes p in the order of the product's left side: of each 32 keys
// those at 16 h + 8 i + 2 t + j are the thread's numbers 4 h + 2 i + j at its place t, and so are the values' keys.
template <class T>
MZT_DEVICE void weigh(uint32_t (&p)[T::value_steps][4], TileRow& tile, uint32_t (&sums)[2],
                      const float (&s)[T::n_tiles][4], float by) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float shift = weight_shift<T>(tile, s, half, by, kLog2Of255);
        sums[half] = 0;
#pragma unroll
        for (int n = 0; n < T::n_tiles; n += 2) {
            float weights[4];
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                const float score = s[n + each / 2][2 * half + each % 2];
                weights[each] = exp2_approximate(fmaf(score, by, shift)) + kIntegerFloat;
            }
            const uint32_t packed = pack_bytes(weights[0], weights[1], weights[2], weights[3]);
            p[n / 4][n % 4 + half] = packed;
            sums[half] = add_bytes(packed, sums[half]);
        }
    }
}

// sums = p v for 8 columns and the tile's 64 keys.
template <class T>
MZT_DEVICE void multiply_byte_tile(float (&sums)[4], const uint32_t (&p)[T::value_steps][4], const uint32_t (&b)[4]) {
    int32_t integers[4] = {kIntegerBits, kIntegerBits, kIntegerBits, kIntegerBits};
    multiply_bytes<typename T::Architecture>(integers, p[0], b[0], b[1]);
    multiply_bytes<typename T::Architecture>(integers, p[1], b[2], b[3]);
#pragma unroll
    for (int each = 0; each < 4; ++each) sums[each] = summed(integers[each]);
}

// Where a tile's maximum is far above the row's in any row of the warp, what was gathered is scaled down.
template <class T>
MZT_DEVICE void catch_up(float (&out)[T::out_tiles][4], RowState& row, const TileRow& tile) {
    const bool far = tile.most[0] > row.m[0] + kMostBehind || tile.most[1] > row.m[1] + kMostBehind;
    if (!ballot(far)) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) raise_maximum<T>(out, row, half, tile.most[half]);
}

// The tile's part in the row's sum, and what its sums of values are to be multiplied by.
template <typename Sum>
MZT_DEVICE void add_sums(RowState& row, TileRow& tile, const Sum (&sums)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        tile.share[half] = exp2_approximate(tile.most[half] - row.m[half]);
        row.l[half] = fmaf(static_cast<float>(sums[half]), tile.share[half], row.l[half]);
    }
}

}  // namespace mezzotint
