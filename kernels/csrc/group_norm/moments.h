// Count, mean and sum of squared differences from the mean, of parts that are combined by Chan's formula.
#pragma once

#include "../primitives.h"
#include "params.h"

namespace mezzotint::group_norm {

struct Moments {
    float count, mean, squares;
};

// The moments of both parts together; either may be empty.
MZT_DEVICE Moments combine(const Moments& a, const Moments& b) {
    const float count = a.count + b.count;
    if (count == 0) return {0, 0, 0};
    const float share = b.count / count, apart = b.mean - a.mean;
    return {count, a.mean + apart * share, a.squares + b.squares + a.count * share * apart * apart};
}

// Both lanes get the same bits: the lower lane's part comes first.
MZT_DEVICE Moments combine_lanes(const Moments& own, int apart) {
    const Moments other = {shuffle_xor(own.count, apart), shuffle_xor(own.mean, apart),
                           shuffle_xor(own.squares, apart)};
    return thread_index() & apart ? combine(other, own) : combine(own, other);
}

template <typename Element>
MZT_DEVICE void unpack(float (&to)[kEight], const Chunk& from) {
#pragma unroll
    for (int word = 0; word < kEight / 2; ++word) {
        to[word * 2] = low_number<Element>(from.words[word]);
        to[word * 2 + 1] = high_number<Element>(from.words[word]);
    }
}

// What a thread of the first and third pass reads: eight channels of each 32nd pixel of a segment.
struct Place {
    int batch, segment, channel, first, end, lane_across, row;
    bool is_there;

    MZT_DEVICE explicit Place(const GroupNormParams& params) {
        uint32_t rest = block_index();
        lane_across = thread_index() % kAcross;
        row = thread_index() / kAcross;
        channel = static_cast<int>(rest % params.tiles) * kTileChannels + lane_across * kEight;
        rest /= params.tiles;
        segment = static_cast<int>(rest % params.segments);
        batch = static_cast<int>(rest / params.segments);
        const int begin = segment * params.segment_pixels, left = params.pixels - begin;
        end = begin + (left < params.segment_pixels ? left : params.segment_pixels);
        first = begin + row;
        is_there = channel < params.channels;
    }
};

}  // namespace mezzotint::group_norm
