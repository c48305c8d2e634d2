// What the kernels that quantize rows are told when they run.
#pragma once

#include <stdint.h>

namespace mezzotint::quantize {

// A row belongs to teams of lanes (teams.h), and every team of a block has a number on each of three boards.
constexpr int kTeamLanes = 8, kChunks = 4, kEight = 8;
constexpr int kTeamColumns = kTeamLanes * kChunks * kEight;
constexpr int kGroupColumns = kTeamLanes * kEight;  // that share a scale, where rows do not
constexpr int kMostTeams = 64;  // of a block
constexpr int kBoards = 3;      // of sums, of squares, of the largest
constexpr int kSharedBytes = kBoards * kMostTeams * 4;

constexpr int kShares = 3;  // of a row in 4 bits (round_int4.h); each has a board for the sum of its square errors
constexpr int kInt4SharedBytes = (kBoards + kShares) * kMostTeams * 4;

struct QuantizeParams {
    const void* x;
    int64_t x_stride;  // bytes
    int32_t rows, columns;
    int32_t teams_per_row, rows_per_block;
    int32_t rows_per_65536_teams;  // rounded up: a division by a multiplication
    const void *norm_weight, *norm_bias;  // null: 1 and 0
    const void *shift, *gain;             // null, both: none
    int64_t modulation_stride;            // bytes
    int32_t rows_per_batch;
    float epsilon;
    uint32_t group;  // 0: no rotation
    int8_t* values;
    int64_t values_stride;  // bytes
    float* scales;
    int64_t scales_stride;  // elements, from one group's to the next's
    const float* smooth;    // null: 1
    uint8_t* block_scales;  // of block-scaled formats only
    int64_t block_scales_stride;
};

}  // namespace mezzotint::quantize
