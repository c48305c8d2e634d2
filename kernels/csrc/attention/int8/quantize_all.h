// The quantized copies for products that are all of 8 bits: queries and keys rotated, values transposed.
#pragma once

#include "fp8_values.h"
#include "rotate.h"

namespace mezzotint {

// Sixteen numbers, which are at most kLargest, as bytes: integers, or floats (e4m3).
struct IntegerValues {
    static constexpr float kLargest = 127;
    MZT_DEVICE static uint32_t packed(const float (&x)[4]) {
        uint32_t bytes = 0;
#pragma unroll
        for (int each = 0; each < 4; ++each) bytes |= static_cast<uint32_t>(rounded_byte(x[each]) & 255) << (8 * each);
        return bytes;
    }
};
struct Fp8Values {
    static constexpr float kLargest = kLargestFp8Value;
    MZT_DEVICE static uint32_t packed(const float (&x)[4]) { return pack_e4m3(x[0], x[1], x[2], x[3]); }
};

// A block: 64 queries of one head, 16 to a warp.
template <int lanes, typename Element>
MZT_DEVICE void quantize_all_queries(const Int8Params& params, int64_t block, float* shared) {
    const ForwardParams& all = params.forward;
    const QueryBlock at = query_block(params, block);
    const Element* from = static_cast<const Element*>(all.q) + at.batch * all.q_stride.batch + at.head * all.q_stride.head;
    if (all.lse) gather_summary(params, at.batch * params.kv_heads + at.head / all.heads_per_kv, at.batch, shared);
    if (at.first >= params.q_rows) return;
    int8_t* to = params.q + at.row * params.q_rows * params.padded_dim;
    float* scales = params.q_scale + (at.row * (params.q_rows / kQueryRows) + at.first / kQueryRows) * 8;
    quantize_rotated_queries<lanes>(from, all.q_stride.token, at.first, to, scales, params);
    if (all.lse) store_query_means(params, from, at, shared);
}

// A tile's values become rows of channels: 255 weights of a thread meet the keys that they are of (all_softmax.h).
template <class Values, typename Element>
MZT_DEVICE void transpose_values(const Int8Params& params, const Element* v, int64_t tile_row, int first, int limit,
                                 const float* largest) {
    int8_t* to = static_cast<int8_t*>(params.v) + tile_row * params.head_dim * kKeyRows;
    for (int item = thread_index(); item < kKeyRows / 16 * params.head_dim; item += kPassThreads) {
        const int channel = item % params.head_dim, sixteen = item / params.head_dim;
        const float by = Values::kLargest / largest[channel];
        Chunk bytes;
#pragma unroll
        for (int word = 0; word < 4; ++word) {
            float numbers[4];
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                const int token = first + sixteen * 16 + each / 2 * 8 + word * 2 + each % 2;
                const float value = token < limit ? to_float(v[token * params.forward.v_stride.token + channel]) : 0.0f;
                numbers[each] = value * by;
            }
            bytes.words[word] = Values::packed(numbers);
        }
        *reinterpret_cast<Chunk*>(to + static_cast<int64_t>(channel) * kKeyRows + sixteen * 16) = bytes;
    }
}

// A block: 64 keys and values of one head; each warp has one group of the keys.
template <int lanes, class Values, typename Element>
MZT_DEVICE void quantize_all_keys(const Int8Params& params, int64_t block, float* mean) {
    const ForwardParams& all = params.forward;
    const int tiles = params.k_rows / kKeyRows;
    const int64_t row = block / tiles;  // of (batch, kv head)
    const int64_t batch = row / params.kv_heads, head = row % params.kv_heads;
    const int tile = static_cast<int>(block % tiles), limit = key_limit(params, batch);
    gather_summary(params, row, batch, mean);

    const Element* k = static_cast<const Element*>(all.k) + batch * all.k_stride.batch + head * all.k_stride.head;
    int8_t* to = params.k + row * params.k_rows * params.padded_dim;
    const float scale =
        quantize_rotated_keys<lanes>(k, all.k_stride.token, tile * kKeyRows, limit, to, params, mean);
    if (thread_index() % 32 == 0) params.k_scale[(row * tiles + tile) * 4 + thread_index() / 32] = scale;

    const float* largest = mean + params.head_dim;
    const Element* v = static_cast<const Element*>(all.v) + batch * all.v_stride.batch + head * all.v_stride.head;
    transpose_values<Values>(params, v, row * tiles + tile, tile * kKeyRows, limit, largest);
    for (int channel = thread_index(); tile == 0 && channel < params.head_dim; channel += kPassThreads) {
        params.v_scale[row * params.head_dim + channel] = largest[channel] / Values::kLargest;
    }
}

// The first blocks have the queries, the others the keys and values.
template <int lanes, class Values, typename Element>
MZT_DEVICE void quantize_all_rows(const Int8Params& params, float* shared) {
    const int64_t first = query_blocks(params);
    if (block_index() < first) {
        quantize_all_queries<lanes, Element>(params, block_index(), shared);
    } else {
        quantize_all_keys<lanes, Values, Element>(params, block_index() - first, shared);
    }
}

template <typename Element, class Values = IntegerValues>
MZT_DEVICE void quantize_all_block(const Int8Params& params, void* shared) {
    if (params.head_dim <= 64) {
        quantize_all_rows<8, Values, Element>(params, static_cast<float*>(shared));
    } else {
        quantize_all_rows<16, Values, Element>(params, static_cast<float*>(shared));
    }
}

}  // namespace mezzotint
