// The second of two kernels where keys are split: it adds the parts' sums, in the order of the keys, and divides them.
//
// A part's weights are exp2(score - m) with an m of its own. The largest of a row's is subtracted from all of them, so
// that every part is scaled by at most 1; one that saw nothing has sums of 0, and the lowest m.
#pragma once

#include <float.h>
#include <math.h>

#include "../params.h"
#include "../softmax.h"

namespace mezzotint {

constexpr int kJoinThreads = 128;

// 8 columns of a row of the output, stored at once.
template <typename Element>
MZT_DEVICE void store_joined(const ForwardParams& params, uint32_t row, uint32_t chunk, const float (&out)[8],
                             float inverse) {
    const uint32_t head_row = row / params.nq, head = head_row % params.heads, batch = head_row / params.heads;
    Element* to = static_cast<Element*>(params.out) + batch * params.out_stride.batch + head * params.out_stride.head +
                  row % params.nq * params.out_stride.token + chunk * 8;
    Chunk joined;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        joined.words[pair] = pack<Element>(out[2 * pair] * inverse, out[2 * pair + 1] * inverse);
    }
    *reinterpret_cast<Chunk*>(to) = joined;
}

// A thread has 8 columns of a row of all heads and batches.
template <typename Element>
MZT_DEVICE void join_block(const ForwardParams& params) {
    const Splits& splits = params.splits;
    const uint32_t number = block_index() * kJoinThreads + thread_index();
    const uint32_t row = number / splits.chunks, chunk = number % splits.chunks;
    if (row >= static_cast<uint32_t>(splits.all_rows)) return;
    float most = -FLT_MAX;
    for (int part = 0; part < splits.count; ++part) {
        most = fmaxf(most, splits.rows[static_cast<int64_t>(part) * splits.all_rows + row].m);
    }
    float sum = 0, out[8] = {};
#pragma unroll 2
    for (int part = 0; part < splits.count; ++part) {
        const int64_t place = static_cast<int64_t>(part) * splits.all_rows + row;
        const RowPart found = splits.rows[place];
        const float weight = exp2_approximate(found.m - most);
        sum = fmaf(found.l, weight, sum);
        const Chunk* from = reinterpret_cast<const Chunk*>(splits.sums + (place * splits.chunks + chunk) * 8);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const Chunk four = from[half];
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                out[half * 4 + each] = fmaf(float_of(four.words[each]), weight, out[half * 4 + each]);
            }
        }
    }
    store_joined<Element>(params, row, chunk, out, sum == 0 ? 0 : 1 / sum);  // a row that sees nothing is 0
    if (params.lse && chunk == 0) params.lse[row] = sum == 0 ? -INFINITY : (most + log2_approximate(sum)) * kLn2;
}

}  // namespace mezzotint
