#include "plan.h"

#include <algorithm>
#include <cstdio>

#include "../choice.h"
#include "linear_attention.h"

namespace mezzotint::linear_attention {

namespace {

constexpr int64_t kMostSplits = 64;
constexpr int64_t kLeastTiles = 4;      // of tokens for each split: its sums are as large as one or two tiles
constexpr int64_t kBlocksPerProcessor = 4;
constexpr int64_t kAlignment = 256;
constexpr int64_t kMostColumns = 4096;  // of features, or of values

int64_t round_up(int64_t a, int64_t to) { return divide_up(a, to) * to; }

int64_t width_of(const MztLinearAttentionArgs& args) { return args.head_dim + kEight; }
int64_t token_tiles(const MztLinearAttentionArgs& args) { return divide_up(args.nk, kTile); }
int64_t sum_size(const MztLinearAttentionArgs& args) {
    return args.batch * args.kv_heads * args.features * width_of(args);
}
int64_t sum_bytes(const MztLinearAttentionArgs& args, int32_t splits) {
    return round_up(splits * sum_size(args) * static_cast<int64_t>(sizeof(float)), kAlignment);
}
int64_t part_bytes(const MztLinearAttentionArgs& args) { return round_up(sum_size(args) * 2, kAlignment); }

// Sizes fit into 32 bits, so that none of these products exceeds 63.
bool fits_grid(const MztLinearAttentionArgs& args) {
    if (args.features > kMostColumns || args.head_dim > kMostColumns) return false;
    if (args.batch * args.heads > INT32_MAX / width_of(args) || args.nq + args.nk > INT32_MAX - kQueryTile) return false;
    return summarize_blocks(args, kMostSplits) <= INT32_MAX && apply_blocks(args) <= INT32_MAX;
}

}  // namespace

int32_t splits_for(const MztLinearAttentionArgs& args, const DeviceFacts& device) {
    const int64_t wanted = divide_up(kBlocksPerProcessor * device.multiprocessors, summarize_blocks(args, 1));
    const int64_t most = std::min(kMostSplits, divide_up(token_tiles(args), kLeastTiles));
    return static_cast<int32_t>(std::max<int64_t>(1, std::min(wanted, most)));
}

int64_t workspace_bytes(const MztLinearAttentionArgs& args, int32_t splits) {
    const int64_t scales = args.batch * args.kv_heads * (width_of(args) / kEight);
    return sum_bytes(args, splits) + 2 * part_bytes(args) + scales * static_cast<int64_t>(sizeof(float));
}

int64_t summarize_blocks(const MztLinearAttentionArgs& args, int32_t splits) {
    return args.batch * args.kv_heads * divide_up(args.features, kTile) * divide_up(args.head_dim, kTile) * splits;
}

int64_t join_blocks(const MztLinearAttentionArgs& args) {
    return args.batch * args.kv_heads * (width_of(args) / kEight);
}

int64_t apply_blocks(const MztLinearAttentionArgs& args) {
    return args.batch * args.heads * divide_up(args.head_dim, kTile) * divide_up(args.nq, kQueryTile);
}

LinearAttentionParams params_of(const MztLinearAttentionArgs& args, int32_t splits) {
    const auto strides = [](const int64_t (&from)[3]) { return Strides{from[0], from[1], from[2]}; };
    LinearAttentionParams params{};
    params.q = args.q;
    params.k = args.k;
    params.v = args.v;
    params.out = args.out;
    params.q_stride = strides(args.q_stride);
    params.k_stride = strides(args.k_stride);
    params.v_stride = strides(args.v_stride);
    params.out_stride = strides(args.out_stride);
    params.heads = static_cast<int32_t>(args.heads);
    params.kv_heads = static_cast<int32_t>(args.kv_heads);
    params.group = static_cast<int32_t>(args.heads / args.kv_heads);
    params.nq = static_cast<int32_t>(args.nq);
    params.nk = static_cast<int32_t>(args.nk);
    params.features = static_cast<int32_t>(args.features);
    params.head_dim = static_cast<int32_t>(args.head_dim);
    params.width = static_cast<int32_t>(width_of(args));
    params.feature_tiles = static_cast<int32_t>(divide_up(args.features, kTile));
    params.column_tiles = static_cast<int32_t>(divide_up(args.head_dim, kTile));
    params.query_tiles = static_cast<int32_t>(divide_up(args.nq, kQueryTile));
    params.splits = splits;
    params.tiles_per_split = static_cast<int32_t>(divide_up(token_tiles(args), splits));
    params.key_lengths = args.key_lengths;
    params.key_mask = args.key_mask;
    params.key_mask_stride = args.key_mask_stride;
    params.divided = args.divided != 0;
    params.least = args.least;
    params.epsilon = args.epsilon;
    char* workspace = static_cast<char*>(args.workspace);
    params.sums = reinterpret_cast<float*>(workspace);
    params.sum_size = sum_size(args);
    params.high = workspace + sum_bytes(args, splits);
    params.low = workspace + sum_bytes(args, splits) + part_bytes(args);
    params.scales = reinterpret_cast<float*>(workspace + sum_bytes(args, splits) + 2 * part_bytes(args));
    return params;
}

}  // namespace mezzotint::linear_attention

namespace mezzotint {

void plan_linear_attention(const MztLinearAttentionArgs& args, const DeviceFacts& device, MztAttentionPlan& plan) {
    using namespace linear_attention;
    constexpr const char* maps[] = {"identity", "relu", "elu + 1"};
    const char* dtype = name_of(static_cast<MztDtype>(args.dtype));
    if (device.architecture < 80 && args.dtype != MZT_FLOAT16) {
        std::snprintf(plan.text, sizeof plan.text, "no linear attention in %s on architecture %d", dtype,
                      device.architecture);
    } else if (!fits_grid(args)) {
        std::snprintf(plan.text, sizeof plan.text,
                      "linear attention of a batch of %lld with %lld heads of %lld queries, %lld features and %lld "
                      "columns is more than a card's grid of blocks takes",
                      static_cast<long long>(args.batch), static_cast<long long>(args.heads),
                      static_cast<long long>(args.nq), static_cast<long long>(args.features),
                      static_cast<long long>(args.head_dim));
    } else {
        plan.supported = 1;
        plan.kernel = static_cast<uint32_t>(splits_for(args, device));
        plan.workspace_bytes = workspace_bytes(args, static_cast<int32_t>(plan.kernel));
        std::snprintf(plan.text, sizeof plan.text, "linear attention %s %s, %u splits", dtype, maps[args.map],
                      plan.kernel);
    }
}

}  // namespace mezzotint
