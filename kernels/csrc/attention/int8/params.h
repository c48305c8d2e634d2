// The quantized copies that int8 scores are made of, where they lie in the workspace, and what the kernels are told.
//
// Queries: groups of two rows, r and r + 8 of each 16, for each r one scale. Keys: less their mean over all tokens,
// which changes no softmax; groups of 16 of each 64, keys 8j + 2t and 8j + 2t + 1 for t of 0 to 3. So each thread of the
// main loop needs one scale of a tile's keys and one of each pair of rows (arXiv 2411.10958, section 3.2).
// Values: float16, each column divided by its largest size, so that those of bfloat16 models stay in range. Where all is
// int8 they are bytes, each column with a scale, in tiles of 64 keys: a row of 64 bytes for each column (quantize_all.h).
#pragma once

#include "../params.h"

namespace mezzotint {

constexpr int kQueryRows = 16;   // that are quantized together; 8 scales
constexpr int kKeyRows = 64;     // that are quantized together; 4 scales
constexpr int kSummedRows = 256;  // tokens of which one block takes sum and maximum

struct Int8Params {
    ForwardParams forward;
    int32_t head_dim, padded_dim;  // bytes of a quantized row: a multiple of 32; 0, like q_rows, where only v is copied
    int32_t kv_heads, batch;
    int32_t q_rows, k_rows;  // with their padding
    int32_t chunks;          // of kSummedRows tokens
    int8_t *q, *k;           // (batch, heads, q_rows, padded_dim), (batch, kv_heads, k_rows, padded_dim)
    void* v;                 // (batch, kv_heads, k_rows, head_dim), float16; or (.., k_rows / 64, head_dim, 64), int8
    float *q_scale, *k_scale, *v_scale;  // (.., q_rows / 16, 8), (.., k_rows / 64, 4), (.., head_dim)
    float* q_mean;                       // (batch, heads, nq): q . mean of k, for the logarithm of sums
    float *k_sum, *v_largest;            // (batch, kv_heads, chunks, head_dim)
};

}  // namespace mezzotint
