// What the kernels of linear attention are told when they run; all three passes take the same.
#pragma once

#include "../attention/params.h"

namespace mezzotint::linear_attention {

constexpr int kTile = 64;          // of tokens, of features, of columns of values
constexpr int kQueryTile = 128;    // of queries
constexpr int kEight = 8;          // columns of one `mma`, and of a 16-byte chunk
constexpr int kKeyThreads = 128;   // a warp for each 16 features of a tile
constexpr int kJoinThreads = 128;
constexpr int kQueryThreads = 256; // a warp for each 16 queries of a tile

struct LinearAttentionParams {
    const void *q, *k, *v;
    void* out;
    Strides q_stride, k_stride, v_stride, out_stride;
    int32_t heads, kv_heads, group;  // heads of queries that share one of keys
    int32_t nq, nk;
    int32_t features, head_dim;
    int32_t width;  // head_dim + 8: columns of a summary, of which the last eight are z and seven of zeros
    int32_t feature_tiles, column_tiles, query_tiles;
    int32_t splits, tiles_per_split;  // blocks that share the tokens of a head, and tiles of tokens of each
    const int32_t* key_lengths;
    const uint8_t* key_mask;
    int64_t key_mask_stride;
    bool divided;
    float least, epsilon;
    float* sums;         // (splits, batch, kv_heads, features, width)
    int64_t sum_size;    // numbers of one split
    void *high, *low;    // (batch, kv_heads, features, width): the summary in two parts of 16 bits
    float* scales;       // (batch, kv_heads, width / 8): what eight columns of it are to be multiplied by
};

}  // namespace mezzotint::linear_attention
