// The kernel that quantizes rows: each is read once, stays in registers, and is written once.
#pragma once

#include "prepare.h"
#include "rotate.h"
#include "round.h"

namespace mezzotint::quantize {

// `boards` is the block's shared memory.
template <typename Element, int preparation>
MZT_DEVICE void quantize_block(const QuantizeParams& params, float* boards) {
    const Place place = place_of(params);
    Numbers x;
    read_row<Element, preparation>(x, place, params);
    if constexpr (preparation == MZT_LAYER_NORM || preparation == MZT_RMS_NORM) {
        normalize<Element, preparation>(x, place, params, boards, boards + kMostTeams);
    }
    if (params.gain) modulate<Element>(x, place, params);
    rotate(x, params.group);
    const float largest = join_row<Largest>(largest_magnitude(x), place, params, boards + 2 * kMostTeams);
    write_row(x, scale_of(largest), place, params);
}

}  // namespace mezzotint::quantize
