// Weights and values as floats of 8 bits (e4m3), summed in float16 over the 64 keys of a tile.
//
// A number keeps 3 bits behind its first, however small it is beside the largest, whose size is all integers' step: less
// exact for numbers of about one size, more for channels of values in which a few tokens stand out. The largest weight of
// a row's tile is 28 and the largest value of a channel 36, both of this format, and 64 products of them are 64512, which
// float16 can hold (arXiv 2411.10958; 2505.21136 on sums in float16).
#pragma once

#include "all_softmax.h"

namespace mezzotint {

constexpr float kLargestFp8Weight = 28, kLargestFp8Value = 36;
constexpr float kLog2Of28 = 4.807354922057604f;
constexpr float kLnOf28 = 3.332204510175204f;
constexpr uint32_t kQuarters = 0x28282828u;  // four times 1/4

// The sums of a row's rounded weights, a quarter of them for each of the four threads that share it.
template <class T>
MZT_DEVICE void sum_weights(float (&sums)[2], const uint32_t (&p)[T::value_steps][4]) {
    uint32_t of_rows[2] = {};
#pragma unroll
    for (int k = 0; k < T::value_steps; ++k) multiply_fp8_half_k32(of_rows, p[k], kQuarters, kQuarters);
    sums[0] = low_half(of_rows[0]);
    sums[1] = low_half(of_rows[1]);
}

// Scores become weights as in all_softmax.h, in the same order, but for what they are.
template <class T>
MZT_DEVICE void weigh(uint32_t (&p)[T::value_steps][4], TileRow& tile, float (&sums)[2],
                      const float (&s)[T::n_tiles][4], float by) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float shift = weight_shift<T>(tile, s, half, by, kLog2Of28);
#pragma unroll
        for (int n = 0; n < T::n_tiles; n += 2) {
            float weights[4];
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                weights[each] = exp2_approximate(fmaf(s[n + each / 2][2 * half + each % 2], by, shift));
            }
            p[n / 4][n % 4 + half] = pack_e4m3(weights[0], weights[1], weights[2], weights[3]);
        }
    }
    sum_weights<T>(sums, p);
}

// sums = p v for 8 columns and the tile's 64 keys.
template <class T>
MZT_DEVICE void multiply_fp8_tile(float (&sums)[4], const uint32_t (&p)[T::value_steps][4], const uint32_t (&b)[4]) {
    uint32_t of_rows[2] = {};
    multiply_fp8_half_k32(of_rows, p[0], b[0], b[1]);
    multiply_fp8_half_k32(of_rows, p[1], b[2], b[3]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        sums[2 * half] = low_half(of_rows[half]);
        sums[2 * half + 1] = high_half(of_rows[half]);
    }
}

}  // namespace mezzotint
