// The first pass: mean and squares of each channel, of one segment of pixels and 64 channels.
#pragma once

#include "moments.h"

namespace mezzotint::group_norm {

constexpr int kMeasureBytes = kWarps * kTileChannels * 3 * static_cast<int>(sizeof(float));

// The moments of a thread's numbers. Sums are of differences from its first pixel, which is one of its numbers: so what
// cancels is at most as many times the result as there are pixels of a thread (64).
template <typename Element>
MZT_DEVICE void measure_thread(Moments (&moments)[kEight], const GroupNormParams& params, const Place& place) {
    float origin[kEight] = {}, sums[kEight] = {}, squares[kEight] = {};
    const Element* from = static_cast<const Element*>(params.x) + place.batch * params.x_batch + place.channel;
    int count = 0;
    for (int pixel = place.first; place.is_there && pixel < place.end; pixel += kDown, ++count) {
        float numbers[kEight];
        const Chunk read = *reinterpret_cast<const Chunk*>(from + pixel * params.x_pixel);
        unpack<Element>(numbers, read);
#pragma unroll
        for (int each = 0; each < kEight; ++each) {
            if (count == 0) origin[each] = numbers[each];
            const float apart = numbers[each] - origin[each];
            sums[each] += apart;
            squares[each] += apart * apart;
        }
    }
#pragma unroll
    for (int each = 0; each < kEight; ++each) {
        const float mean = count ? sums[each] / static_cast<float>(count) : 0;
        const float rest = squares[each] - mean * sums[each];
        moments[each] = {static_cast<float>(count), count ? origin[each] + mean : 0, rest < 0 ? 0 : rest};
    }
}

// The block's tile of channels; `board` is its shared memory.
template <typename Element>
MZT_DEVICE void measure_block(const GroupNormParams& params, float* board) {
    const Place place(params);
    Moments moments[kEight];
    measure_thread<Element>(moments, params, place);
#pragma unroll
    for (int each = 0; each < kEight; ++each) {
        moments[each] = combine_lanes(moments[each], kAcross);
        moments[each] = combine_lanes(moments[each], 2 * kAcross);
    }
    Moments* parts = reinterpret_cast<Moments*>(board);
    if (thread_index() % 32 < kAcross) {
#pragma unroll
        for (int each = 0; each < kEight; ++each) {
            parts[(each * kWarps + thread_index() / 32) * kAcross + place.lane_across] = moments[each];
        }
    }
    barrier();
    if (thread_index() >= kTileChannels) return;
    const int lane = thread_index() % kAcross, each = thread_index() / kAcross;
    const int channel = place.channel + each;
    Moments all = {0, 0, 0};
    for (int warp = 0; warp < kWarps; ++warp) all = combine(all, parts[(each * kWarps + warp) * kAcross + lane]);
    if (!place.is_there) return;
    float* to = params.partial +
                (static_cast<int64_t>(place.batch) * params.segments + place.segment) * 2 * params.channels + channel;
    to[0] = all.mean;
    to[params.channels] = all.squares;
}

}  // namespace mezzotint::group_norm
