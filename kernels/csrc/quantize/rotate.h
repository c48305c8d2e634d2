// Groups of columns times a regular Hadamard matrix, the Kronecker power of
//
//         | 1  1  1 -1|
//     1/2 | 1  1 -1  1|    which takes four numbers to half of their sum, less the four in reverse.
//         | 1 -1  1  1|
//         |-1  1  1  1|
//
// Each digit of a column's number in base 4 is a step of its own; where a team keeps the digits tells where the four are:
// the lowest among the numbers of a chunk, the next its half and the lowest bit of the lane, the third the lane's other
// bits, the highest the chunk. (The rotation: arXiv 2512.03673.)
#pragma once

#include <math.h>

#include "teams.h"

namespace mezzotint::quantize {

MZT_DEVICE void rotate_four(float& a, float& b, float& c, float& d) {
    const float sum = (a + b) + (c + d);
    const float first = fmaf(0.5f, sum, -d), second = fmaf(0.5f, sum, -c);
    d = fmaf(0.5f, sum, -a);
    c = fmaf(0.5f, sum, -b);
    a = first;
    b = second;
}

// Columns 1 apart.
MZT_DEVICE void rotate_within_chunks(Numbers& x) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        rotate_four(x[chunk][0], x[chunk][1], x[chunk][2], x[chunk][3]);
        rotate_four(x[chunk][4], x[chunk][5], x[chunk][6], x[chunk][7]);
    }
}

// Columns 4 apart: a chunk has two of the four, the lane beside it has the others.
MZT_DEVICE void rotate_pairs_of_lanes(Numbers& x) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
        for (int each = 0; each < 4; ++each) {
            float& low = x[chunk][each];
            float& high = x[chunk][each + 4];
            const float across_low = shuffle_xor(high, 1), across_high = shuffle_xor(low, 1);
            const float sum = (low + high) + (across_low + across_high);
            low = fmaf(0.5f, sum, -across_low);
            high = fmaf(0.5f, sum, -across_high);
        }
    }
}

// Columns 16 apart: four lanes have one each.
MZT_DEVICE void rotate_lanes(Numbers& x) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
        for (int each = 0; each < kEight; ++each) {
            const float across = shuffle_xor(x[chunk][each], 6);
            const float two = x[chunk][each] + across;
            x[chunk][each] = fmaf(0.5f, two + shuffle_xor(two, 2), -across);
        }
    }
}

// Columns 64 apart.
MZT_DEVICE void rotate_chunks(Numbers& x) {
#pragma unroll
    for (int each = 0; each < kEight; ++each) rotate_four(x[0][each], x[1][each], x[2][each], x[3][each]);
}

// Every group of 4, 16, 64 or 256 columns; it divides the row, so a group is there as a whole or not at all.
MZT_DEVICE void rotate(Numbers& x, uint32_t group) {
    if (group >= 4) rotate_within_chunks(x);
    if (group >= 16) rotate_pairs_of_lanes(x);
    if (group >= 64) rotate_lanes(x);
    if (group >= 256) rotate_chunks(x);
}

}  // namespace mezzotint::quantize
