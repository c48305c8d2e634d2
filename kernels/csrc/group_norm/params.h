// What the kernels of GroupNorm are told when they run; all three passes take the same.
#pragma once

#include <stdint.h>

namespace mezzotint::group_norm {

constexpr int kEight = 8;                            // channels of a 16-byte chunk
constexpr int kAcross = 8;                           // chunks of a tile: 128 bytes of a pixel
constexpr int kThreads = 256;
constexpr int kDown = kThreads / kAcross;            // pixels that a block reads at once
constexpr int kTileChannels = kAcross * kEight;
constexpr int kWarps = kThreads / 32;
constexpr int kJoinThreads = 128;

struct GroupNormParams {
    const void* x;
    void* out;
    int64_t x_batch, x_pixel, out_batch, out_pixel;  // strides in elements
    const void *weight, *bias;                       // null: 1 and 0
    float epsilon;
    int32_t pixels, channels, groups, group_channels;
    int32_t segments, segment_pixels;                // of the pixels, each for one block
    int32_t tiles;                                   // of the channels
    float* partial;                                  // (batch, segments, 2, channels): mean, sum of squares around it
    float* affine;                                   // (batch, 2, channels): what x is multiplied by, what is added
};

}  // namespace mezzotint::group_norm
