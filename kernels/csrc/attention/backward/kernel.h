// The backward kernel: which tiles of keys are this block's, the main loop over queries for each, and the way out.
#pragma once

#include "mainloop.h"

namespace mezzotint {
namespace backward_pass {

MZT_DEVICE Place place_of(const BackwardParams& params, uint32_t block) {
    const uint32_t split = block % params.splits, rest = block / params.splits;
    const uint32_t slice = rest % params.slices, row = rest / params.slices;
    return {static_cast<int>(split), static_cast<int>(slice), static_cast<int>(row % params.kv_heads),
            static_cast<int>(row / params.kv_heads)};
}

// Rows of dk or dv, two columns at a time.
template <class T>
MZT_DEVICE void write_rows(const float (&from)[T::Shape::m_tiles][T::out_tiles][4], void* to, const Strides& stride,
                           const BackwardParams& params, const Place& place, int first_key, float factor) {
    using Element = typename T::Element;
    const int thread = thread_index_anew();
    Element* begin = static_cast<Element*>(to) + place.batch * stride.batch + place.kv_head * stride.head +
                     place.slice * T::part_dim + thread % 4 * 2;
    const int first_row = first_key + thread / 32 * T::Shape::rows_per_warp + thread % 32 / 4;
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = first_row + m * 16 + half * 8;
            if (row >= params.nk) continue;
            Element* at = begin + row * stride.token;
#pragma unroll
            for (int o = 0; o < T::out_tiles; ++o) {
                *reinterpret_cast<uint32_t*>(at + o * 8) =
                    pack<Element>(from[m][o][2 * half] * factor, from[m][o][2 * half + 1] * factor);
            }
        }
    }
}

template <class T>
MZT_DEVICE void attention_backward_block(const BackwardParams& params, void* shared) {
    const Place place = place_of(params, block_index());
    int limit = params.nk;
    if (params.key_lengths) {
        const int length = params.key_lengths[place.batch];
        limit = length < 0 ? 0 : length < limit ? length : limit;
    }
    for (int tile = place.split; tile < params.key_tiles; tile += params.splits) {
        const int first_key = tile * T::Shape::tile_m;
        Mainloop<T> loop(params, place, static_cast<char*>(shared));
        loop.run(first_key, limit);
        write_rows<T>(loop.dk, params.dk, params.dk_stride, params, place, first_key, params.scale);
        const float kept = T::dropout ? 256.0f / static_cast<float>(params.dropout.kept) : 1;
        write_rows<T>(loop.dv, params.dv, params.dv_stride, params, place, first_key, kept);
    }
}

}  // namespace backward_pass
}  // namespace mezzotint
