// The passes before and after the main loop: facts of each query, and dq from its sums.
#pragma once

#include <math.h>

#include "accumulate.h"
#include "params.h"

namespace mezzotint {
namespace backward_pass {

constexpr int kLanesPerRow = kPassThreads / kRowsPerBlock;
static_assert(kRowStep % kRowsPerBlock == 0, "the rows of a block are those of one head");

// Sum of the products of 8 numbers.
template <typename Element>
MZT_DEVICE float product_of_chunks(const Element* a, const Element* b, float sum) {
    const Chunk first = *reinterpret_cast<const Chunk*>(a), second = *reinterpret_cast<const Chunk*>(b);
#pragma unroll
    for (int word = 0; word < 4; ++word) {
        sum = fmaf(low_number<Element>(first.words[word]), low_number<Element>(second.words[word]), sum);
        sum = fmaf(high_number<Element>(first.words[word]), high_number<Element>(second.words[word]), sum);
    }
    return sum;
}

// Facts of 16 queries by 8 lanes each, and zeros where their sums of dq will be.
template <typename Element>
MZT_DEVICE void prepare_rows_block(const BackwardParams& params) {
    const int lane = thread_index() % kLanesPerRow;
    const int64_t place = static_cast<int64_t>(block_index()) * kRowsPerBlock + thread_index() / kLanesPerRow;
    const int64_t all_heads = place / params.padded_rows;
    const int row = static_cast<int>(place % params.padded_rows), head = static_cast<int>(all_heads % params.heads);
    const int64_t batch = all_heads / params.heads, index = all_heads * params.nq + row;
    const bool exists = row < params.nq;
    float sum = 0;
    if (exists) {
        const Element* out = static_cast<const Element*>(params.out) + batch * params.out_stride.batch +
                             head * params.out_stride.head + row * params.out_stride.token;
        const Element* gradient = static_cast<const Element*>(params.out_gradient) +
                                  batch * params.out_gradient_stride.batch + head * params.out_gradient_stride.head +
                                  row * params.out_gradient_stride.token;
        for (int column = lane * 8; column < params.head_dim; column += kLanesPerRow * 8) {
            sum = product_of_chunks(out + column, gradient + column, sum);
        }
        const int parts = params.ordered ? params.splits : 1;
        for (int part = 0; part < parts; ++part) {
            float* to = params.sums + part * params.sum_size + index * params.head_dim;
            for (int column = lane * 4; column < params.head_dim; column += kLanesPerRow * 4) {
                *reinterpret_cast<Four*>(to + column) = Four{{0, 0, 0, 0}};
            }
        }
    }
#pragma unroll
    for (int mask = 1; mask < kLanesPerRow; mask *= 2) sum += shuffle_xor(sum, mask);
    if (lane > 0) return;
    const float lse = exists ? params.lse[index] : -INFINITY;
    const bool sees = lse != -INFINITY;
    if (sees && params.lse_gradient) sum -= params.lse_gradient[index];
    params.rows[place] = RowFacts{sees ? lse * kLog2E : INFINITY, sees ? sum : 0};
}

// 8 columns of dq by each thread: sums are added in the order of their splits.
template <typename Element>
MZT_DEVICE void finish_queries_block(const BackwardParams& params) {
    const int64_t first = (static_cast<int64_t>(block_index()) * kPassThreads + thread_index()) * 8;
    if (first >= params.sum_size) return;
    const int parts = params.ordered ? params.splits : 1;
    float sums[8] = {};
    for (int part = 0; part < parts; ++part) {
        const Four* from = reinterpret_cast<const Four*>(params.sums + part * params.sum_size + first);
        const Four low = from[0], high = from[1];
#pragma unroll
        for (int each = 0; each < 4; ++each) {
            sums[each] += low.at[each];
            sums[4 + each] += high.at[each];
        }
    }
    const int64_t all_rows = first / params.head_dim, all_heads = all_rows / params.nq;
    const int64_t row = all_rows % params.nq, head = all_heads % params.heads, batch = all_heads / params.heads;
    Element* to = static_cast<Element*>(params.dq) + batch * params.dq_stride.batch + head * params.dq_stride.head +
                  row * params.dq_stride.token + first % params.head_dim;
    Chunk made;
#pragma unroll
    for (int word = 0; word < 4; ++word) {
        made.words[word] = pack<Element>(sums[2 * word] * params.scale, sums[2 * word + 1] * params.scale);
    }
    *reinterpret_cast<Chunk*>(to) = made;
}

}  // namespace backward_pass
}  // namespace mezzotint
