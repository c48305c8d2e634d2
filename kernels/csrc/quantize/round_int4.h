// A row's scale for integers of -8 to 7, chosen among a few by its square error, and its numbers two to a byte.
#pragma once

#include <math.h>

#include "round.h"

namespace mezzotint::quantize {

// Shares of the scale that clips nothing: rounding the many finer outweighs clipping the few, unless those are far off.
MZT_DEVICE float share_of(int number) { return number == 0 ? 1.0f : number == 1 ? 0.85f : 0.7f; }

// That share of it; 1 for a row of zeros.
MZT_DEVICE float int4_scale_of(float largest, float share) {
    constexpr float kLeast = 1.17549435e-38f;  // whose inverse is a number
    const float scale = largest * (share / 7);
    return largest == 0 ? 1 : scale < kLeast ? kLeast : scale;
}

// The integer as rounded() has it, in the digits behind 1.5 2^23.
MZT_DEVICE float clipped(float x, float inverse) {
    constexpr float kMagic = 12582912.0f;
    return fminf(fmaxf(fmaf(x, inverse, kMagic), kMagic - 8), kMagic + 7);
}

// Of what this lane has of the row.
MZT_DEVICE void square_errors(float (&errors)[kShares], const Numbers& x, float largest) {
#pragma unroll
    for (int share = 0; share < kShares; ++share) {
        const float scale = int4_scale_of(largest, share_of(share)), inverse = 1 / scale;
        errors[share] = 0;
#pragma unroll
        for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
            for (int each = 0; each < kEight; ++each) {
                const float left = fmaf(-scale, clipped(x[chunk][each], inverse) - 12582912.0f, x[chunk][each]);
                errors[share] = fmaf(left, left, errors[share]);
            }
        }
    }
}

// The first of those with the least error; where the row has a NaN, one that shows it.
MZT_DEVICE float best_scale(const float (&errors)[kShares], float largest) {
    float least = errors[0], share = share_of(0);
#pragma unroll
    for (int each = 1; each < kShares; ++each) {
        share = errors[each] < least ? share_of(each) : share;
        least = errors[each] < least ? errors[each] : least;
    }
    return int4_scale_of(largest, share);
}

// Eight numbers, the first in the lowest half of a byte.
MZT_DEVICE uint32_t packed_eight(const float (&x)[kEight], float inverse) {
    uint32_t halves[2];
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
        uint32_t each[4];
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) each[byte] = bits_of(clipped(x[2 * byte + odd], inverse));
        const uint32_t low = pick_bytes(each[0], each[1], 0x0040), high = pick_bytes(each[2], each[3], 0x0040);
        halves[odd] = pick_bytes(low, high, 0x5410);
    }
    return (halves[0] & 0x0f0f0f0fu) | (halves[1] << 4 & 0xf0f0f0f0u);
}

MZT_DEVICE void write_row_int4(const Numbers& x, float scale, const Place& place, const QuantizeParams& params) {
    const float inverse = 1 / scale;
    int8_t* row = params.values + place.row * params.values_stride;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        if (!is_inside(place, params, chunk)) continue;
        *reinterpret_cast<uint32_t*>(row + column_of(place, chunk) / 2) = packed_eight(x[chunk], inverse);
    }
    if (place.has_row && place.column == 0) params.scales[place.row] = scale;
}

}  // namespace mezzotint::quantize
