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
    prepare<Element, preparation>(x, place, params, boards, boards + kMostTeams);
    rotate(x, params.group);
    const float largest = join_row<Largest>(largest_magnitude(x), place, params, boards + 2 * kMostTeams);
    write_row(x, scale_of(largest), place, params);
}

}  // namespace mezzotint::quantize
