// What the backward kernels are told when they run; all three passes take the same.
#pragma once

#include "../params.h"

namespace mezzotint {
namespace backward_pass {

constexpr int kRowStep = 64;       // rows of facts are padded to; no tile of queries has more
constexpr int kPassThreads = 128;  // of a block before or after the main loop
constexpr int kRowsPerBlock = 16;  // of facts that one prepares; 8 lanes to a row

// Of a query: what its weights are computed from again.
struct RowFacts {
    float lse;    // times log2(e); infinity for a row that sees nothing or does not exist: all its weights are 0
    float delta;  // sum of out * out_gradient, less the gradient of the logarithm of sums
};

struct BackwardParams {
    const void *q, *k, *v, *out, *out_gradient;
    const float *lse, *lse_gradient;
    void *dq, *dk, *dv;
    Strides q_stride, k_stride, v_stride, out_stride, out_gradient_stride, dq_stride, dk_stride, dv_stride;
    int32_t heads, kv_heads, group;  // heads of queries that share one of keys
    int32_t nq, nk, head_dim;
    int32_t padded_rows;               // nq, rounded up to kRowStep
    int32_t key_tiles, splits, slices;  // blocks are numbered split first, then slice, then head of keys, then batch
    bool causal;
    bool ordered;  // each split has sums of dq of its own; else all add to the same
    float scale;
    float factor;  // scale * kLog2E
    const int32_t* key_lengths;
    const uint8_t* key_mask;
    int64_t key_mask_stride;
    RowFacts* rows;    // (batch, heads, padded_rows)
    float* sums;       // of dq / scale: (splits, or 1 where they are not ordered; batch, heads, nq, head_dim)
    int64_t sum_size;  // numbers of one of them
    Dropout dropout;
    BlockTable table;  // transposed: of the queries that keys are seen by
};

}  // namespace backward_pass
}  // namespace mezzotint
