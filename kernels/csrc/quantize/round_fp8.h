// A row's scale for floats of 8 bits (e4m3), whose largest is 448, and its numbers as such.
#pragma once

#include <math.h>

#include "round.h"

namespace mezzotint::quantize {

// 1 for a row of zeros; NaN or infinity where such a number is in the row, which every product with it then shows.
MZT_DEVICE float fp8_scale_of(float largest) {
    constexpr float kLeast = 1.17549435e-38f;  // whose inverse is a number
    const float scale = largest / 448;
    return largest == 0 ? 1 : scale < kLeast ? kLeast : scale;
}

MZT_DEVICE void write_row_fp8(const Numbers& x, float scale, const Place& place, const QuantizeParams& params) {
    const float inverse = 1 / scale;
    int8_t* row = params.values + place.row * params.values_stride;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        if (!is_inside(place, params, chunk)) continue;
        EightBytes bytes;
#pragma unroll
        for (int word = 0; word < 2; ++word) {
            const float* four = x[chunk] + 4 * word;
            bytes.words[word] =
                pack_e4m3(four[0] * inverse, four[1] * inverse, four[2] * inverse, four[3] * inverse);
        }
        *reinterpret_cast<EightBytes*>(row + column_of(place, chunk)) = bytes;
    }
    if (place.has_row && place.column == 0) params.scales[place.row] = scale;
}

}  // namespace mezzotint::quantize
