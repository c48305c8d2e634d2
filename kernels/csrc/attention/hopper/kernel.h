// Hopper's forward kernel: a thread that copies, groups of four warps that multiply, and the tiles of queries of a block,
// one after another, so that the next tile's copies run while outputs are written.
#pragma once

#include "consumer.h"
#include "producer.h"

namespace mezzotint {

// Calls `work(place, keys)` for each of the block's tiles; blocks take them in turns, so that heads are worked on together.
template <class T, class Work>
MZT_DEVICE void for_each_tile(const HopperParams& params, const Work& work) {
    const ForwardParams& forward = params.forward;
    const uint32_t blocks = (params.tiles + forward.tiles_per_block - 1) / forward.tiles_per_block;
    for (uint32_t tile = block_index(); tile < params.tiles; tile += blocks) {
        const Place place = place_of<T>(forward, tile);
        work(place, key_range<T>(forward, place));
    }
}

// Rows of the output, 16 bytes at a time, as far as there are columns; and their logarithms of sums.
template <class T>
MZT_DEVICE void write_rows(const Consumer<T>& loop, const HopperParams& params, const Place& place) {
    using Element = typename T::Element;
    const ForwardParams& forward = params.forward;
    Element* out = static_cast<Element*>(forward.out) + place.batch * forward.out_stride.batch +
                   place.head * forward.out_stride.head;
    const int thread = thread_index_anew() - kGroupThreads;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = first_row_of<T>(place.first_query, thread) + half * 8;
        const float sum = row_sum(loop.rows[0].l[half]);
        const float inverse = sum == 0 ? 0 : 1 / sum;  // a row that sees nothing is 0
#pragma unroll
        for (int o = 0; o < T::out_tiles; o += 4) {
            Chunk chunk;
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                const float* pair = loop.out[o + each] + 2 * half;
                chunk.words[each] = pack<Element>(pair[0] * inverse, pair[1] * inverse);
            }
            exchange_words(chunk.words, thread);
            const int column = (o + thread % 4) * 8;
            if (row >= forward.nq || column >= params.head_dim) continue;
            *reinterpret_cast<Chunk*>(out + row * forward.out_stride.token + column) = chunk;
        }
        if (forward.lse && thread % 4 == 0 && row < forward.nq) {
            const float natural = (loop.rows[0].m[half] + log2_approximate(sum)) * kLn2;
            forward.lse[(place.batch * forward.heads + place.head) * forward.nq + row] = sum == 0 ? -INFINITY : natural;
        }
    }
}

template <class T>
MZT_DEVICE void attend(const HopperParams& params, uint32_t shared, int group) {
    Consumer<T> loop(shared, group);
    for_each_tile<T>(params, [&](const Place& place, const KeyRange& keys) {
        loop.attend(keys, sight_of<T>(params.forward, place, keys.limit), params.forward.factor);
        write_rows<T>(loop, params, place);
    });
    loop.finish();
}

template <class T>
MZT_DEVICE void hopper_forward_block(const HopperParams& params, void* shared) {
    const uint32_t begin = shared_address(shared);
    const int group = uniform(thread_index() / kGroupThreads);
    if (thread_index() == 0) Rings<T>(begin).prepare();
    barrier();
    if (group == 0) {
        keep_registers<T::producer_registers>();
        if (thread_index() > 0) return;
        Producer<T> producer(params, begin);
        for_each_tile<T>(params, [&](const Place& place, const KeyRange& keys) {
            if (keys.tiles > 0) producer.copy(place, keys);
        });
    } else {
        take_registers<T::consumer_registers>();
        attend<T>(params, begin, group - 1);
    }
}

}  // namespace mezzotint
