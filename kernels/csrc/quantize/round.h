// A row's scale, and its numbers as bytes.
#pragma once

#include <math.h>

#include "teams.h"

namespace mezzotint::quantize {

MZT_DEVICE float largest_magnitude(const Numbers& x) {
    float largest = 0;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
        for (int each = 0; each < kEight; ++each) largest = larger(largest, fabsf(x[chunk][each]));
    }
    return largest;
}

// 1 for a row of zeros; NaN or infinity where such a number is in the row, which every product with it then shows.
MZT_DEVICE float scale_of(float largest) {
    constexpr float kLeast = 1.17549435e-38f;  // whose inverse is a number
    const float scale = largest / 127;
    return largest == 0 ? 1 : scale < kLeast ? kLeast : scale;
}

// The integer next to x times the inverse of the scale, the even one of two, in the lowest byte: adding 1.5 2^23 leaves
// no digits behind the point, and two's complement before it. The scale comes from the row's largest, so that no integer
// is beyond +-127.
MZT_DEVICE uint32_t rounded(float x, float inverse) { return bits_of(fmaf(x, inverse, 12582912.0f)); }

struct alignas(8) EightBytes {
    uint32_t words[2];
};

MZT_DEVICE EightBytes rounded_eight(const float (&x)[kEight], float inverse) {
    EightBytes bytes;
#pragma unroll
    for (int word = 0; word < 2; ++word) {
        uint32_t each[4];
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) each[byte] = rounded(x[4 * word + byte], inverse);
        const uint32_t low = pick_bytes(each[0], each[1], 0x0040), high = pick_bytes(each[2], each[3], 0x0040);
        bytes.words[word] = pick_bytes(low, high, 0x5410);
    }
    return bytes;
}

MZT_DEVICE void write_row(const Numbers& x, float scale, const Place& place, const QuantizeParams& params) {
    const float inverse = 1 / scale;
    int8_t* row = params.values + place.row * params.values_stride;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        if (!is_inside(place, params, chunk)) continue;
        *reinterpret_cast<EightBytes*>(row + column_of(place, chunk)) = rounded_eight(x[chunk], inverse);
    }
    if (place.has_row && place.column == 0) params.scales[place.row] = scale;
}

}  // namespace mezzotint::quantize
