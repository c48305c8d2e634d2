#include "plan.h"

namespace mezzotint::group_norm {

namespace {

constexpr int64_t kWantedSegments = 64, kFewestTurns = 4, kMostTurns = 64;  // turns: pixels of a thread

int64_t rounded_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// It depends on the pixels alone, so that a card's size changes no bit.
int64_t segment_pixels(const MztGroupNormArgs& args) {
    const int64_t turns = rounded_up(args.pixels, kDown * kWantedSegments);
    return kDown * (turns < kFewestTurns ? kFewestTurns : turns > kMostTurns ? kMostTurns : turns);
}

int64_t segments(const MztGroupNormArgs& args) { return rounded_up(args.pixels, segment_pixels(args)); }

int64_t partial_numbers(const MztGroupNormArgs& args) { return args.batch * segments(args) * 2 * args.channels; }

}  // namespace

int64_t workspace_bytes(const MztGroupNormArgs& args) {
    return (partial_numbers(args) + args.batch * 2 * args.channels) * static_cast<int64_t>(sizeof(float));
}

int64_t blocks_of(const MztGroupNormArgs& args) {
    return args.batch * segments(args) * rounded_up(args.channels, kTileChannels);
}

GroupNormParams params_of(const MztGroupNormArgs& args) {
    GroupNormParams made{};
    made.x = args.x;
    made.out = args.out;
    made.x_batch = args.x_stride[0];
    made.x_pixel = args.x_stride[1];
    made.out_batch = args.out_stride[0];
    made.out_pixel = args.out_stride[1];
    made.weight = args.weight;
    made.bias = args.bias;
    made.epsilon = args.epsilon;
    made.pixels = static_cast<int32_t>(args.pixels);
    made.channels = static_cast<int32_t>(args.channels);
    made.groups = static_cast<int32_t>(args.groups);
    made.group_channels = static_cast<int32_t>(args.channels / args.groups);
    made.segments = static_cast<int32_t>(segments(args));
    made.segment_pixels = static_cast<int32_t>(segment_pixels(args));
    made.tiles = static_cast<int32_t>(rounded_up(args.channels, kTileChannels));
    made.partial = static_cast<float*>(args.workspace);
    made.affine = made.partial + partial_numbers(args);
    return made;
}

}  // namespace mezzotint::group_norm
