// What the kernels of the integer product are told when they run; strides are in bytes.
#pragma once

#include <stdint.h>

#include "../api.h"

namespace mezzotint::gemm {

constexpr int kMostParts = 3;
constexpr int kTaps = 9;  // pixels of x that one of a convolution's output sees
constexpr int kTileDepth = 64;  // bytes of a row of x in a tile: of 8 bits, as many columns as share a group scale

// The columns of one of several layers. Pointers are those of column 0 of the whole output, as if it were the part's.
struct LinearPart {
    const void* weight;
    const float* weight_scales;
    const void* bias;         // null: none
    const void* norm_weight;  // of a head; null: 1
    int32_t end;              // its columns are below
    uint32_t flags;
};

struct LinearParams {
    const void* x;  // (rows, in_bytes)
    const void* weight;
    const uint8_t* group_scales;  // of 4 bits for x of 8 only
    int64_t x_stride, weight_stride, group_scales_stride;
    const float *x_scales, *weight_scales;
    int32_t rows, in_bytes, out_columns;  // bytes of a row of x
    const void* bias;                  // null: none
    const void *branch_x, *branch_up;  // null: none
    int64_t branch_x_stride, branch_up_stride;
    int32_t rank;
    int32_t rows_per_batch;
    const void* gate;      // null: none
    const void* residual;  // null: none
    void* out;
    int64_t gate_stride, residual_stride, out_stride;
    int32_t row_tiles, column_tiles;  // of the output
    const void *x_group_scales, *weight_group_scales;  // floats and halves; null: none
    int64_t x_group_scales_stride, weight_group_scales_stride;
    const float* codebook;  // of 16; null: none
    LinearPart parts[kMostParts];     // in place of weight, weight_scales and bias
    const float* rotations;           // cosine and sine of each pair of columns of a head
    int32_t part_count, head_dim, rotation_rows;
    float epsilon;
    int32_t shares_weight_scale;      // 1: weight_scales is one number for all columns
    uint32_t activation;              // MztActivation
    int32_t splits, tiles_per_split;  // of the columns of x; 1: none
    void* partial_sums;
    int32_t image_height, image_width;           // of a convolution's x
    int32_t image_step, out_width, out_pixels;   // pixels of x between those of the output; its row and its image
};

}  // namespace mezzotint::gemm
