// The forward kernel: which queries and keys are this block's, the main loop over them, and the way out.
#pragma once

#include "mainloop.h"
#include "splits/part.h"
#include "wide_stores.h"

namespace mezzotint {

// Where a block is in the problem.
struct Place {
    int first_query, slice, head;
    int64_t batch;
};

// Blocks are fewer than 2^31, and 32 bits divide fast.
template <class T>
MZT_DEVICE Place place_of(const ForwardParams& params, uint32_t block) {
    const uint32_t number = block % params.q_tiles, rest = block / params.q_tiles;
    const uint32_t slice = rest % params.slices, row = rest / params.slices;
    const int head = static_cast<int>(row % params.heads);
    const int64_t batch = row / params.heads;
    const int tile = query_tile<T>(params.table, batch, head, static_cast<int>(number));
    return {tile * T::Shape::tile_m, static_cast<int>(slice), head, batch};
}

template <class T>
MZT_DEVICE Sight sight_of(const ForwardParams& params, const Place& place, int key_limit) {
    Sight sight;
    sight.first_query = place.first_query;
    sight.last_query = params.nq - 1;
    sight.key_limit = key_limit;
    sight.causal_shift = params.causal ? params.nk - params.nq : params.nk;
    sight.key_mask = params.key_mask ? params.key_mask + place.batch * params.key_mask_stride : nullptr;
    const int64_t offset = place.batch * params.bias_stride[0] + place.head * params.bias_stride[1];
    const int64_t size = params.bias_is_float ? 4 : 2;
    sight.bias = params.bias ? static_cast<const char*>(params.bias) + offset * size : nullptr;
    sight.bias_is_float = params.bias_is_float;
    sight.bias_query = params.bias_stride[2];
    sight.bias_key = params.bias_stride[3];
    sight.bias_in_pairs = params.bias_in_pairs;
    sight.scale = params.factor;
    return sight;
}

// What is done to rows and columns on the way out, where nothing is.
struct AsTheyAre {
    MZT_DEVICE float of_column(int) const { return 1; }
    MZT_DEVICE float lse_of_row(int) const { return 0; }
};

// Where some weights were dropped, the others count for more.
struct Scaled {
    float factor;
    MZT_DEVICE float of_column(int) const { return factor; }
    MZT_DEVICE float lse_of_row(int) const { return 0; }
};

// Rows of the output, two columns at a time, and their logarithms of sums.
template <class T, class Loop, class Finish>
MZT_DEVICE void write_out(const Loop& loop, const ForwardParams& params, const Place& place,
                          const Finish& finish) {
    using Element = typename T::Element;
    Element* out = static_cast<Element*>(params.out) + place.batch * params.out_stride.batch +
                   place.head * params.out_stride.head + place.slice * T::slice_dim;
    const int thread = thread_index_anew();
    const int column = thread % 4 * 2, first_row = first_row_of<T>(place.first_query, thread);
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = first_row + m * 16 + half * 8;
            const float sum = row_sum(loop.rows[m].l[half]);
            const float inverse = sum == 0 ? 0 : 1 / sum;  // a row that sees nothing is 0
            Element* to = out + row * params.out_stride.token;
            const auto two_columns = [&](int o) {
                const float low = loop.out[m][o][2 * half] * inverse * finish.of_column(o * 8 + column);
                const float high = loop.out[m][o][2 * half + 1] * inverse * finish.of_column(o * 8 + column + 1);
                return pack<Element>(low, high);
            };
            store_row<T::out_tiles>(to, row < params.nq, thread, two_columns);
            if (row >= params.nq) continue;
            if (params.lse && column == 0 && place.slice == 0) {
                const float natural = (loop.rows[m].m[half] + log2_approximate(sum)) * kLn2;
                params.lse[(place.batch * params.heads + place.head) * params.nq + row] =
                    sum == 0 ? -INFINITY : natural + finish.lse_of_row(row);
            }
        }
    }
}

template <class T>
MZT_DEVICE KeyRange key_range(const ForwardParams& params, const Place& place) {
    constexpr int tile_n = T::Shape::tile_n;
    int limit = params.nk;
    if (params.key_lengths) {
        const int length = params.key_lengths[place.batch];
        limit = length < 0 ? 0 : length < limit ? length : limit;
    }
    const int shift = params.causal ? params.nk - params.nq : params.nk;
    const int last_seen = place.first_query + T::Shape::tile_m + shift;  // by the last query of the tile
    const int seen = last_seen < 0 ? 0 : last_seen < limit ? last_seen : limit;
    const int tiles = (seen + tile_n - 1) / tile_n;
    const int first_seen = place.first_query + shift + 1;  // by its first: all tiles up to there are seen by all
    const int plain = (first_seen < 0 ? 0 : first_seen < limit ? first_seen : limit) / tile_n;
    const int masked_tiles = T::masked ? tiles : plain < tiles ? tiles - plain : 0;
    return {limit, tiles, masked_tiles};
}

template <class T>
MZT_DEVICE TileWalk<T> walk_of(const ForwardParams& params, const Place& place, const KeyRange& keys) {
    return {params.table, place.batch, place.head, place.first_query, keys.tiles};
}

// What scores are multiplied by in the exponent. Those with a bias are scaled before it is added, so that the largest
// less itself is 0 however far out a bias lies.
template <class T>
MZT_DEVICE float factor_of(const ForwardParams& params) {
    return T::masked && params.bias ? 1 : params.factor;
}

// Where the queries and keys of a block are; not its values.
template <class T>
MZT_DEVICE typename Mainloop<T>::Source source_of(const ForwardParams& params, const Place& place, int key_limit) {
    using Element = typename T::Element;
    typename Mainloop<T>::Source source{
        nullptr, nullptr, nullptr, 0, 0, 0, 0, 0, 0, {params.dropout, place.batch * params.heads + place.head}};
    source.q = static_cast<const Element*>(params.q) + place.batch * params.q_stride.batch +
               place.head * params.q_stride.head;
    source.k = static_cast<const Element*>(params.k) + place.batch * params.k_stride.batch +
               place.head / params.heads_per_kv * params.k_stride.head;
    source.q_row = params.q_stride.token;
    source.k_row = params.k_stride.token;
    source.first_query = place.first_query;
    source.nq = params.nq;
    source.key_limit = key_limit;
    return source;
}

// Where the rows of a head lie among those of all parts.
MZT_DEVICE int64_t first_row_of_part(const ForwardParams& params, const Place& place, int part) {
    return static_cast<int64_t>(part) * params.splits.all_rows + (place.batch * params.heads + place.head) * params.nq;
}

template <class T>
MZT_DEVICE void attention_forward_block(const ForwardParams& params, void* shared) {
    using Element = typename T::Element;
    const Part part = part_of<T>(params, block_index());
    const Place place = place_of<T>(params, part.block);
    const int kv_head = place.head / params.heads_per_kv;
    KeyRange keys = key_range<T>(params, place);
    const int first_key = take_part<T>(keys, params, part.number);
    Sight sight = sight_of<T>(params, place, keys.limit);
    move_sight<T>(sight, first_key);

    typename Mainloop<T>::Source source = source_of<T>(params, place, keys.limit);
    source.k += first_key * params.k_stride.token;
    source.v = static_cast<const Element*>(params.v) + place.batch * params.v_stride.batch +
               kv_head * params.v_stride.head + place.slice * T::slice_dim + first_key * params.v_stride.token;
    source.v_row = params.v_stride.token;

    const float factor = factor_of<T>(params);
    Mainloop<T> loop(source, shared_address(shared));
    loop.run(walk_of<T>(params, place, keys), keys.masked_tiles, sight, factor);
    const Part same = part_of<T>(params, block_index_anew());
    const Place out = place_of<T>(params, same.block);
    if constexpr (T::dropout) {
        write_out<T>(loop, params, out, Scaled{256.0f / static_cast<float>(params.dropout.kept)});
    } else if (params.splits.count > 1) {
        write_part<T>(loop, params, out.first_query, first_row_of_part(params, out, same.number), out.slice);
    } else {
        write_out<T>(loop, params, out, AsTheyAre{});
    }
}

}  // namespace mezzotint
