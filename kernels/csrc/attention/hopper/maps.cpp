#include "maps.h"

#include "../choose.h"

namespace mezzotint {

namespace {

constexpr int kBytes = 2;  // of an element
constexpr int64_t kStridesEnd = int64_t{1} << 40;  // in bytes

struct Axes {
    int64_t heads, tokens;
    const int64_t (&strides)[3];  // of batch, head, token
};

// A tensor that is repeated along an axis has no map.
bool has_map(const MztAttentionArgs& args, const Axes& axes) {
    const int64_t sizes[3] = {args.batch, axes.heads, axes.tokens};
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t stride = axes.strides[axis];
        if (sizes[axis] == 0) return false;
        if (sizes[axis] > 1 && (stride <= 0 || stride >= kStridesEnd / kBytes)) return false;
    }
    return true;
}

// The stride of an axis of one element is not looked at, but has to be a valid one.
uint64_t stride_bytes(int64_t size, int64_t stride) { return size > 1 ? static_cast<uint64_t>(stride) * kBytes : 16; }

Tiles tiles_of(const MztAttentionArgs& args, const Instance& instance, const void* first, const Axes& axes, int rows) {
    const auto size = [](int64_t number) { return static_cast<uint64_t>(number); };
    return {first,
            {size(args.head_dim), size(axes.tokens), size(axes.heads), size(args.batch)},
            {stride_bytes(axes.tokens, axes.strides[2]), stride_bytes(axes.heads, axes.strides[1]),
             stride_bytes(args.batch, axes.strides[0])},
            static_cast<uint32_t>(panel_columns(instance.head_dim)),
            static_cast<uint32_t>(rows),
            args.dtype == MZT_BFLOAT16};
}

}  // namespace

bool suits_boxes(const MztAttentionArgs& args) {
    return !args.key_lengths && has_map(args, {args.heads, args.nq, args.q_stride}) &&
           has_map(args, {args.kv_heads, args.nk, args.k_stride}) &&
           has_map(args, {args.kv_heads, args.nk, args.v_stride});
}

HopperTiles tiles_of(const Instance& instance, const MztAttentionArgs& args) {
    const auto keys = [&](const void* first, const int64_t (&strides)[3]) {
        return tiles_of(args, instance, first, {args.kv_heads, args.nk, strides}, instance.tile_n);
    };
    return {tiles_of(args, instance, args.q, {args.heads, args.nq, args.q_stride}, instance.tile_m),
            keys(args.k, args.k_stride), keys(args.v, args.v_stride)};
}

HopperParams hopper_params(const Instance& instance, const MztAttentionArgs& args) {
    HopperParams params{};
    params.forward = forward_params(instance, args);
    params.tiles = static_cast<uint32_t>(query_tiles_of_all(instance, args));
    params.head_dim = static_cast<int32_t>(args.head_dim);
    return params;
}

}  // namespace mezzotint
