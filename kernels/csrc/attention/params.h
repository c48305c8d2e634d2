// What the forward kernels are told when they run.
#pragma once

#include <stdint.h>

namespace mezzotint {

constexpr float kLog2E = 1.4426950408889634f;

struct Strides {
    int64_t batch, head, token;  // in elements
};

// Of the softmax's weights (dropout.h).
struct Dropout {
    uint64_t seed, offset;
    uint32_t kept;  // of 256; 0: none
};

// Which blocks of keys are seen (tile_walk.h), as in MztBlockTable.
struct BlockTable {
    const int32_t *row_ptr, *col, *tile;  // no row_ptr: all are
    const uint64_t* bits;
    int64_t stride_batch, stride_head;
    int32_t log2_queries;  // of a row
    const int32_t* order;  // of rows; null: as they are
};

// Of a row of a part of the keys: what its scores are less in the exponent, and the sum of its weights.
struct RowPart {
    float m, l;
};

// Parts that the keys are split among (splits/part.h); blocks are numbered part last.
struct Splits {
    int32_t count;     // 1: they are not
    int32_t blocks;    // of each part
    int32_t chunks;    // of 8 columns, in a row
    int32_t all_rows;  // of all heads and batches
    float* sums;       // (count, all_rows, chunks, 8)
    RowPart* rows;     // (count, all_rows)
};

struct ForwardParams {
    const void *q, *k, *v;
    void* out;
    float* lse;  // null: not wanted
    Strides q_stride, k_stride, v_stride, out_stride;
    int32_t heads, heads_per_kv;
    int32_t nq, nk;
    int32_t tiles_per_block;  // of queries, one after the other; more than 1 only where all keys are held at once
    int32_t q_tiles, slices;  // blocks are numbered tile first, then slice, then head, then batch
    bool causal;
    float scale;
    float factor;  // scale * kLog2E: what scores are multiplied by in the exponent of 2
    const int32_t* key_lengths;
    const uint8_t* key_mask;
    int64_t key_mask_stride;
    const void* bias;
    bool bias_is_float;  // else it is of the tensors' type
    bool bias_in_pairs;  // keys 2 i and 2 i + 1 lie side by side and aligned: they can be loaded at once
    int64_t bias_stride[4];
    Dropout dropout;
    BlockTable table;
    Splits splits;
};

}  // namespace mezzotint
