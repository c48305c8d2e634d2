// Rows in registers to MXFP8 or NVFP4: the scales of their blocks, and their numbers as bytes.
#pragma once

#include <math.h>

#include "../../block_scaled_api.h"
#include "../../block_scaled_primitives.h"
#include "../round.h"

namespace mezzotint::quantize {

constexpr float kLargestE4m3 = 448, kLargestE2m1 = 6;

// The largest magnitude of eight numbers and those of the lanes beside, `lanes` of which have a block.
template <int lanes>
MZT_DEVICE float largest_of_block(const float (&x)[kEight]) {
    float largest = 0;
#pragma unroll
    for (int each = 0; each < kEight; ++each) largest = larger(largest, fabsf(x[each]));
#pragma unroll
    for (int apart = 1; apart < lanes; apart *= 2) largest = larger(largest, shuffle_xor(largest, apart));
    return largest;
}

// The least power of two, as its biased exponent, by which `largest` becomes at most 448 = 1.75 2^8; NaN, 255, where it is
// no number. Adding to the bits what is beyond 1.75 carries into the exponent.
MZT_DEVICE int exponent_of_block(float largest) {
    const uint32_t bits = bits_of(largest);
    const int exponent = static_cast<int>((bits + 0x1fffffu) >> 23) - 8;
    return bits >= 0x7f800000u ? 255 : exponent < 1 ? 1 : exponent;
}

// The value of a positive number in E4M3.
MZT_DEVICE float value_of_e4m3(uint32_t byte) {
    constexpr float kBias = 1.329227995784916e36f;  // 2^120
    return float_of(byte << 20) * kBias;
}

MZT_DEVICE uint32_t four_e4m3(float a, float b, float c, float d) { return e4m3_pair(a, b) | e4m3_pair(c, d) << 16; }

MZT_DEVICE void write_row_mxfp8(const Numbers& x, const Place& place, const QuantizeParams& params) {
    int8_t* row = params.values + place.row * params.values_stride;
    uint8_t* scales = params.block_scales + place.row * params.block_scales_stride;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        const int exponent = exponent_of_block(largest_of_block<4>(x[chunk]));
        if (!is_inside(place, params, chunk)) continue;
        const float inverse = float_of(static_cast<uint32_t>(exponent == 255 ? 1 : 254 - exponent) << 23);
        float y[kEight];
#pragma unroll
        for (int each = 0; each < kEight; ++each) y[each] = x[chunk][each] * inverse;
        const int column = column_of(place, chunk);
        *reinterpret_cast<EightBytes*>(row + column) = {{four_e4m3(y[0], y[1], y[2], y[3]),
                                                         four_e4m3(y[4], y[5], y[6], y[7])}};
        if (place.lane % 4 == 0) scales[column / 32] = static_cast<uint8_t>(exponent);
    }
}

// 1 for a row of zeros; NaN or infinity where such a number is in the row.
MZT_DEVICE float nvfp4_row_scale(float largest) {
    constexpr float kLeast = 1.17549435e-38f;  // whose inverse is a number
    const float scale = largest / (kLargestE2m1 * kLargestE4m3);
    return largest == 0 ? 1 : scale < kLeast ? kLeast : scale;
}

MZT_DEVICE void write_row_nvfp4(const Numbers& x, float row_scale, const Place& place, const QuantizeParams& params) {
    const float inverse = 1 / row_scale;
    int8_t* row = params.values + place.row * params.values_stride;
    uint8_t* scales = params.block_scales + place.row * params.block_scales_stride;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        float y[kEight];
#pragma unroll
        for (int each = 0; each < kEight; ++each) y[each] = x[chunk][each] * inverse;
        const uint32_t scale = e4m3_pair(largest_of_block<2>(y) / kLargestE2m1, 0);
        if (!is_inside(place, params, chunk)) continue;
        const float by = scale == 0 ? 0 : 1 / value_of_e4m3(scale);
        uint32_t bytes = 0;
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) bytes |= e2m1_pair(y[2 * pair] * by, y[2 * pair + 1] * by) << (8 * pair);
        const int column = column_of(place, chunk);
        *reinterpret_cast<uint32_t*>(row + column / 2) = bytes;
        if (place.lane % 2 == 0) scales[column / 16] = static_cast<uint8_t>(scale);
    }
    if (place.has_row && place.column == 0) params.scales[place.row] = row_scale;
}

}  // namespace mezzotint::quantize
