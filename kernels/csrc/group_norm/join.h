// The second pass: the parts of one group are combined, and become a factor and a term of each channel.
#pragma once

#include <math.h>

#include "moments.h"

namespace mezzotint::group_norm {

constexpr int kJoinBytes = kJoinThreads / 32 * 3 * static_cast<int>(sizeof(float));

// The moments of a group, from all its segments and channels; the same in each thread of the block.
MZT_DEVICE Moments moments_of_group(const GroupNormParams& params, int batch, int first_channel, Moments* board) {
    Moments moments = {0, 0, 0};
    for (int item = thread_index(); item < params.segments * params.group_channels; item += kJoinThreads) {
        const int segment = item / params.group_channels, channel = first_channel + item % params.group_channels;
        const float* from =
            params.partial + (static_cast<int64_t>(batch) * params.segments + segment) * 2 * params.channels + channel;
        const int left = params.pixels - segment * params.segment_pixels;
        const int count = left < params.segment_pixels ? left : params.segment_pixels;
        moments = combine(moments, {static_cast<float>(count), from[0], from[params.channels]});
    }
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) moments = combine_lanes(moments, apart);
    if (thread_index() % 32 == 0) board[thread_index() / 32] = moments;
    barrier();
    Moments all = {0, 0, 0};
    for (int warp = 0; warp < kJoinThreads / 32; ++warp) all = combine(all, board[warp]);
    return all;
}

template <typename Element>
MZT_DEVICE void join_block(const GroupNormParams& params, float* board) {
    const int batch = static_cast<int>(block_index() / params.groups);
    const int first = static_cast<int>(block_index() % params.groups) * params.group_channels;
    const Moments all = moments_of_group(params, batch, first, reinterpret_cast<Moments*>(board));
    const float inverse = 1 / sqrtf(all.squares / all.count + params.epsilon);
    const Element* weight = static_cast<const Element*>(params.weight);
    const Element* bias = static_cast<const Element*>(params.bias);
    float* to = params.affine + static_cast<int64_t>(batch) * 2 * params.channels;
    for (int channel = first + thread_index(); channel < first + params.group_channels; channel += kJoinThreads) {
        const float factor = weight ? inverse * to_float(weight[channel]) : inverse;
        to[channel] = factor;
        to[params.channels + channel] = (bias ? to_float(bias[channel]) : 0) - all.mean * factor;
    }
}

}  // namespace mezzotint::group_norm
