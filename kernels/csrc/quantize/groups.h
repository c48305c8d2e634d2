// Rows to integers of 4 bits with a scale for each 64 columns, which are a team's chunks of one number: no more than a team
// has to agree on anything.
#pragma once

#include "prepare.h"
#include "rotate.h"
#include "round_int4.h"

namespace mezzotint::quantize {

MZT_DEVICE void smooth(Numbers& x, const Place& place, const QuantizeParams& params) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        if (!is_inside(place, params, chunk)) continue;
        const Chunk* factors = reinterpret_cast<const Chunk*>(params.smooth + column_of(place, chunk));
#pragma unroll
        for (int each = 0; each < kEight; ++each) x[chunk][each] *= float_of(factors[each / 4].words[each % 4]);
    }
}

// A group's scale: the share of the one that clips nothing with the least square error.
MZT_DEVICE float group_scale(const float (&x)[kEight]) {
    float largest = 0;
#pragma unroll
    for (int each = 0; each < kEight; ++each) largest = larger(largest, fabsf(x[each]));
    largest = join_team<Largest>(largest);
    float errors[kShares];
#pragma unroll
    for (int share = 0; share < kShares; ++share) {
        const float scale = int4_scale_of(largest, share_of(share)), inverse = 1 / scale;
        float error = 0;
#pragma unroll
        for (int each = 0; each < kEight; ++each) {
            const float left = fmaf(-scale, clipped(x[each], inverse) - 12582912.0f, x[each]);
            error = fmaf(left, left, error);
        }
        errors[share] = join_team<Sum>(error);
    }
    return best_scale(errors, largest);
}

template <typename Element>
MZT_DEVICE void quantize_groups(const QuantizeParams& params, float* boards) {
    const Place place = place_of(params);
    Numbers x;
    prepare<Element, MZT_AS_IT_IS>(x, place, params, boards, boards + kMostTeams);
    if (params.smooth) smooth(x, place, params);
    rotate(x, params.group);
    int8_t* row = params.values + place.row * params.values_stride;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        const float scale = group_scale(x[chunk]);
        if (!is_inside(place, params, chunk)) continue;
        const int column = column_of(place, chunk);
        *reinterpret_cast<uint32_t*>(row + column / 2) = packed_eight(x[chunk], 1 / scale);
        if (place.lane == 0) params.scales[column / kGroupColumns * params.scales_stride + place.row] = scale;
    }
}

}  // namespace mezzotint::quantize
