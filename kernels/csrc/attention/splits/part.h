// Few tiles of queries and many keys: several blocks share a tile, each with a part of the keys that it sees.
// They leave unnormalized sums in the workspace, and a second kernel joins them (join.h; arXiv 2307.08691,
// section 3.1, over blocks instead of over steps).
//
// A block sees its part as all keys there are: pointers, lengths and edges are moved by the first of them. So the main
// loop is the same, and knows nothing of parts.
#pragma once

#include "../mask.h"
#include "../params.h"

namespace mezzotint {

// Which of the parts a block has, and the block that it would be without any.
struct Part {
    uint32_t block;
    int number;
};

// Whether a kernel's keys can be split; weights that are dropped are not.
template <class T>
constexpr bool kSplits = !T::dropout;

template <class T>
MZT_DEVICE Part part_of(const ForwardParams& params, uint32_t block) {
    if (!kSplits<T> || params.splits.count == 1) return {block, 0};
    const uint32_t number = block / params.splits.blocks;
    return {block - number * params.splits.blocks, static_cast<int>(number)};
}

// The keys of a block: how many exist, how many tiles of them its queries see, and how many of these, the last ones,
// need a look at every key.
struct KeyRange {
    int limit, tiles, masked_tiles;
};

// Narrow the keys of a block to those of its part, and return the first of them. Parts have whole tiles, all as many
// but for the last ones, which may have none.
template <class T>
MZT_DEVICE int take_part(KeyRange& keys, const ForwardParams& params, int number) {
    if (!kSplits<T> || params.splits.count == 1) return 0;
    const int each = (keys.tiles + params.splits.count - 1) / params.splits.count;
    const int plain = keys.tiles - keys.masked_tiles;
    const int first = number * each < keys.tiles ? number * each : keys.tiles;
    const int end = first + each < keys.tiles ? first + each : keys.tiles;
    const int first_key = first * T::Shape::tile_n;
    keys.tiles = end - first;
    keys.masked_tiles = end <= plain ? 0 : first >= plain ? end - first : end - plain;
    keys.limit -= first_key;
    return first_key;
}

// What is seen from the first key of a part on.
template <class T>
MZT_DEVICE void move_sight(Sight& sight, int first_key) {
    if (!kSplits<T>) return;
    sight.causal_shift -= first_key;
    if (sight.key_mask) sight.key_mask += first_key;
    const int64_t bytes = first_key * sight.bias_key * (sight.bias_is_float ? 4 : 2);
    if (sight.bias) sight.bias = static_cast<const char*>(sight.bias) + bytes;
}

// Sums of weights times values, not divided by the sums of weights, and for each row how far its weights are scaled and
// their sum. Slices of a head have the same rows, and the first one leaves them.
template <class T, class Loop>
MZT_DEVICE void write_part(const Loop& loop, const ForwardParams& params, int first_query, int64_t first_row,
                           int slice) {
    const int thread = thread_index_anew();
    const int lane_column = slice * T::slice_dim + thread % 4 * 2;
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int query = first_row_of<T>(first_query, thread) + m * 16 + half * 8;
            const float sum = row_sum(loop.rows[m].l[half]);
            if (query >= params.nq) continue;
            const int64_t row = first_row + query;
            Pair* to = reinterpret_cast<Pair*>(params.splits.sums + row * (params.splits.chunks * 8) + lane_column);
#pragma unroll
            for (int o = 0; o < T::out_tiles; ++o) to[o * 4] = {loop.out[m][o][2 * half], loop.out[m][o][2 * half + 1]};
            if (thread % 4 == 0 && slice == 0) params.splits.rows[row] = {loop.rows[m].m[half], sum};
        }
    }
}

}  // namespace mezzotint
