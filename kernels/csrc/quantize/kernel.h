// The kernel that quantizes rows: each is read once, stays in registers, and is written once.
#pragma once

#include "prepare.h"
#include "rotate.h"
#include "round.h"
#include "round_fp8.h"
#include "round_int4.h"

namespace mezzotint::quantize {

// To integers of `bits` bits, or to floats of 8; `boards` is the block's shared memory.
template <typename Element, int preparation, int bits, bool floats = false>
MZT_DEVICE void quantize_block(const QuantizeParams& params, float* boards) {
    const Place place = place_of(params);
    Numbers x;
    prepare<Element, preparation>(x, place, params, boards, boards + kMostTeams);
    rotate(x, params.group);
    const float largest = join_row<Largest>(largest_magnitude(x), place, params, boards + 2 * kMostTeams);
    if constexpr (floats) {
        write_row_fp8(x, fp8_scale_of(largest), place, params);
    } else if constexpr (bits == 8) {
        write_row(x, scale_of(largest), place, params);
    } else {
        float errors[kShares];
        square_errors(errors, x, largest);
        join_rows<Sum>(errors, place, params, boards + kBoards * kMostTeams);
        write_row_int4(x, best_scale(errors, largest), place, params);
    }
}

}  // namespace mezzotint::quantize
