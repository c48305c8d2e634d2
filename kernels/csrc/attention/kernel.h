// The forward kernel: which queries and keys are this block's, the main loop over them, and the way out.
#pragma once

#include "mainloop.h"

namespace mezzotint {

// Where a block is in the problem.
struct Place {
    int first_query, slice, head;
    int64_t batch;
};

template <class T>
MZT_DEVICE Place place_of_block(const ForwardParams& params) {
    const int64_t tile = block_index() % params.q_tiles;
    const int64_t rest = block_index() / params.q_tiles;
    const int64_t row = rest / params.slices;
    return {static_cast<int>(tile) * T::Shape::tile_m, static_cast<int>(rest % params.slices),
            static_cast<int>(row % params.heads), row / params.heads};
}

template <class T>
MZT_DEVICE Sight sight_of(const ForwardParams& params, const Place& place, int key_limit) {
    const int lane = thread_index() % 32, warp = thread_index() / 32;
    Sight sight;
    sight.first_row = place.first_query + warp * T::Shape::rows_per_warp + lane / 4;
    sight.key_limit = key_limit;
    sight.causal_shift = params.causal ? params.nk - params.nq : params.nk;
    sight.key_mask = params.key_mask ? params.key_mask + place.batch * params.key_mask_stride : nullptr;
    const int64_t offset = place.batch * params.bias_stride[0] + place.head * params.bias_stride[1];
    const int64_t size = params.bias_is_float ? 4 : 2;
    sight.bias = params.bias ? static_cast<const char*>(params.bias) + offset * size : nullptr;
    sight.bias_is_float = params.bias_is_float;
    sight.bias_query = params.bias_stride[2];
    sight.bias_key = params.bias_stride[3];
    sight.scale = params.scale;
    return sight;
}

// Rows of the output, two columns at a time, and their logarithms of sums.
template <class T>
MZT_DEVICE void write_out(const Mainloop<T>& loop, const ForwardParams& params, const Place& place, int first_row,
                          float factor) {
    using Element = typename T::Element;
    Element* out = static_cast<Element*>(params.out) + place.batch * params.out_stride.batch +
                   place.head * params.out_stride.head + place.slice * T::slice_dim;
    const int quarter = thread_index() % 4;
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = first_row + m * 16 + half * 8;
            const float sum = row_sum(loop.rows[m].l[half]);
            const float inverse = sum == 0 ? 0 : 1 / sum;  // a row that sees nothing is 0
            if (row >= params.nq) continue;
            Element* to = out + row * params.out_stride.token + quarter * 2;
#pragma unroll
            for (int o = 0; o < T::out_tiles; ++o) {
                *reinterpret_cast<uint32_t*>(to + o * 8) =
                    pack<Element>(loop.out[m][o][2 * half] * inverse, loop.out[m][o][2 * half + 1] * inverse);
            }
            if (params.lse && quarter == 0 && place.slice == 0) {
                const float natural = (loop.rows[m].m[half] * factor + log2_approximate(sum)) * kLn2;
                params.lse[(place.batch * params.heads + place.head) * params.nq + row] = sum == 0 ? -INFINITY : natural;
            }
        }
    }
}

template <class T>
MZT_DEVICE void attention_forward_block(const ForwardParams& params, void* shared) {
    using Element = typename T::Element;
    const Place place = place_of_block<T>(params);
    const int kv_head = place.head / params.heads_per_kv;
    int key_limit = params.nk;
    if (params.key_lengths) {
        const int length = params.key_lengths[place.batch];
        key_limit = length < 0 ? 0 : length < key_limit ? length : key_limit;
    }
    const Sight sight = sight_of<T>(params, place, key_limit);

    // Keys that the last query of the tile may see, and those that its first may: all tiles between are masked.
    constexpr int tile_n = T::Shape::tile_n;
    const int last_seen = place.first_query + T::Shape::tile_m + sight.causal_shift;
    const int seen = last_seen < 0 ? 0 : last_seen < key_limit ? last_seen : key_limit;
    const int tiles = (seen + tile_n - 1) / tile_n;
    const int first_seen = place.first_query + sight.causal_shift + 1;
    const int plain = (first_seen < 0 ? 0 : first_seen < key_limit ? first_seen : key_limit) / tile_n;
    const int masked_tiles = T::masked ? tiles : tiles - (plain < tiles ? plain : tiles);

    typename Mainloop<T>::Source source;
    source.q = static_cast<const Element*>(params.q) + place.batch * params.q_stride.batch +
               place.head * params.q_stride.head;
    source.k = static_cast<const Element*>(params.k) + place.batch * params.k_stride.batch +
               kv_head * params.k_stride.head;
    source.v = static_cast<const Element*>(params.v) + place.batch * params.v_stride.batch +
               kv_head * params.v_stride.head + place.slice * T::slice_dim;
    source.q_row = params.q_stride.token;
    source.k_row = params.k_stride.token;
    source.v_row = params.v_stride.token;
    source.first_query = place.first_query;
    source.nq = params.nq;
    source.key_limit = key_limit;

    // Masked scores are scaled before their bias is added; others only here, in the exponent.
    const float factor = T::masked ? kLog2E : params.scale * kLog2E;
    Mainloop<T> loop(source, shared_address(shared));
    loop.run(tiles, masked_tiles, sight, factor);
    write_out<T>(loop, params, place, sight.first_row, factor);
}

}  // namespace mezzotint
