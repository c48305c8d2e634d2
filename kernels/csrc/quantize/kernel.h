// The kernel that quantizes rows: each is read once, stays in registers, and is written once.
#pragma once

#include "prepare.h"
#include "rotate.h"
#include "round.h"
#include "round_int4.h"

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

// The same in 4 bits.
template <typename Element, int preparation>
MZT_DEVICE void quantize_block_int4(const QuantizeParams& params, float* boards) {
    const Place place = place_of(params);
    Numbers x;
    prepare<Element, preparation>(x, place, params, boards, boards + kMostTeams);
    rotate(x, params.group);
    const float largest = join_row<Largest>(largest_magnitude(x), place, params, boards + 2 * kMostTeams);
    float errors[kShares];
    square_errors(errors, x, largest);
    join_sums(errors, place, params, boards + kBoards * kMostTeams);
    write_row_int4(x, best_scale(errors, largest), place, params);
}

}  // namespace mezzotint::quantize
