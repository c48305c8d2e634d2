#include "blocks.h"

#include <algorithm>

namespace mezzotint::quantize {

namespace {

constexpr int kTeamsPerWarp = 32 / kTeamLanes;
constexpr int kUsualTeams = 16;   // per block: enough warps that some work while others wait
constexpr int kManyTeams = 48;    // more only if a single row needs them

static_assert(kMostQuantizedColumns == kMostTeams * kTeamColumns, "a row fits into a block");

// Return the number of rows that fills whole warps, so that no lanes idle, unless the block would be too large.
int rows_per_block(int teams) {
    int rows = 1;
    while (rows * teams % kTeamsPerWarp) ++rows;
    while (rows * teams * 2 <= kUsualTeams) rows *= 2;
    return rows * teams <= kManyTeams ? rows : 1;
}

}  // namespace

QuantizeParams quantize_params(const MztQuantizeArgs& args) {
    QuantizeParams params{};
    params.x = args.x;
    params.x_stride = args.x_stride * 2;
    params.rows = static_cast<int32_t>(args.rows);
    params.columns = static_cast<int32_t>(args.columns);
    params.teams_per_row = std::max(1, (params.columns + kTeamColumns - 1) / kTeamColumns);
    params.rows_per_block = rows_per_block(params.teams_per_row);
    params.rows_per_65536_teams = (65536 + params.teams_per_row - 1) / params.teams_per_row;
    params.norm_weight = args.norm_weight;
    params.norm_bias = args.norm_bias;
    params.shift = args.shift;
    params.gain = args.gain;
    params.modulation_stride = args.modulation_stride * 2;
    params.rows_per_batch = static_cast<int32_t>(std::min(args.rows_per_batch, args.rows));
    params.epsilon = args.epsilon;
    params.group = args.group;
    params.values = args.values;
    params.values_stride = args.values_stride;
    params.scales = args.scales;
    params.scales_stride = args.scales_stride;
    params.smooth = args.smooth;
    return params;
}

int threads_of(const QuantizeParams& params) {
    const int teams = params.teams_per_row * params.rows_per_block;
    return (teams + kTeamsPerWarp - 1) / kTeamsPerWarp * 32;
}

int shared_bytes_of(const MztQuantizeArgs& args) { return args.bits == 4 ? kInt4SharedBytes : kSharedBytes; }

int64_t blocks_of(const QuantizeParams& params) {
    return (int64_t{params.rows} + params.rows_per_block - 1) / params.rows_per_block;
}

}  // namespace mezzotint::quantize
