// The second pass: the splits' sums are added in their order, and become two parts of 16 bits that add up to them.
//
// Eight columns share a power of two that brings their largest number to 2^14 at least and below 2^15. So sums of any
// size fit into 16 bits, the parts together are exact to 22 bits in float16 and 16 in bfloat16, and what float16 cannot
// hold is below 2^-39 of the largest.
#pragma once

#include <math.h>

#include "features.h"

namespace mezzotint::linear_attention {

constexpr int kLanesAcross = kEight / 2;  // each has two columns
constexpr int kJoinBytes = kJoinThreads / 32 * static_cast<int>(sizeof(float));

// 2^(exponent - 127), which is a normal number.
MZT_DEVICE float power_of_two(uint32_t exponent) { return low_number<bfloat16>(exponent << 7); }

// The exponent of what a largest number is to be multiplied by; infinity and NaN stay what they are.
MZT_DEVICE uint32_t exponent_for(float largest) {
    const uint32_t target = 127 + 14, exponent = bits_of(largest) >> 23 & 255;
    const uint32_t wanted = target + 127 - exponent;
    return exponent == 255 ? 127 : wanted < 253 ? wanted : 253;
}

// For the whole block; `board` is its shared memory.
MZT_DEVICE float block_largest(float value, float* board) {
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) value = larger(value, shuffle_xor(value, apart));
    if (thread_index() % 32 == 0) board[thread_index() / 32] = value;
    barrier();
    float all = 0;
#pragma unroll
    for (int warp = 0; warp < kJoinThreads / 32; ++warp) all = larger(all, board[warp]);
    return all;
}

// Eight columns of one head's summary.
template <typename Element>
MZT_DEVICE void join_block(const LinearAttentionParams& params, float* board) {
    constexpr int down = kJoinThreads / kLanesAcross;
    const int eights = params.width / kEight, eight = static_cast<int>(block_index() % eights);
    const int64_t begin = static_cast<int64_t>(block_index() / eights) * params.features * params.width + eight * kEight +
                          thread_index() % kLanesAcross * 2;
    float largest = 0;
    for (int row = thread_index() / kLanesAcross; row < params.features; row += down) {
        float* first = params.sums + begin + static_cast<int64_t>(row) * params.width;
        float sums[2] = {0, 0};
        for (int split = 0; split < params.splits; ++split) {
            sums[0] += first[split * params.sum_size];
            sums[1] += first[split * params.sum_size + 1];
        }
        first[0] = sums[0];
        first[1] = sums[1];
        largest = larger(largest, larger(fabsf(sums[0]), fabsf(sums[1])));
    }
    const uint32_t exponent = exponent_for(block_largest(largest, board));
    const float scale = power_of_two(exponent);
    if (thread_index() == 0) params.scales[block_index()] = power_of_two(254 - exponent);
    for (int row = thread_index() / kLanesAcross; row < params.features; row += down) {
        const int64_t at = begin + static_cast<int64_t>(row) * params.width;
        const float left = params.sums[at] * scale, right = params.sums[at + 1] * scale;
        const uint32_t high = pack<Element>(left, right);
        const uint32_t low = pack<Element>(left - low_number<Element>(high), right - high_number<Element>(high));
        *reinterpret_cast<uint32_t*>(static_cast<Element*>(params.high) + at) = high;
        *reinterpret_cast<uint32_t*>(static_cast<Element*>(params.low) + at) = low;
    }
}

}  // namespace mezzotint::linear_attention
