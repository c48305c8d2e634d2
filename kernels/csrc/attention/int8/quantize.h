// Before the main loop: sums and maxima over the tokens, then the quantized copies.
#pragma once

#include <math.h>

#include "../../primitives.h"
#include "params.h"
#include "passes.h"

namespace mezzotint {

constexpr float kLeast = 1e-20f;  // of a divisor: a group of zeros stays zeros

template <typename Element>
struct alignas(16) Eight {
    Element each[8];
};
struct alignas(8) EightBytes {
    int8_t each[8];
};

template <typename Element>
MZT_DEVICE void load_eight(float (&to)[8], const Element* from) {
    const Eight<Element> packed = *reinterpret_cast<const Eight<Element>*>(from);
#pragma unroll
    for (int each = 0; each < 8; ++each) to[each] = to_float(packed.each[each]);
}

MZT_DEVICE float warp_maximum(float value) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) value = fmaxf(value, shuffle_xor(value, apart));
    return value;
}
MZT_DEVICE float warp_sum(float value) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) value += shuffle_xor(value, apart);
    return value;
}

MZT_DEVICE int key_limit(const Int8Params& params, int64_t batch) {
    const int nk = params.forward.nk;
    if (!params.forward.key_lengths) return nk;
    const int length = params.forward.key_lengths[batch];
    return length < 0 ? 0 : length < nk ? length : nk;
}

// One block: the sum of the keys, if wanted, and the largest values of 256 tokens of one head, channel by channel.
template <typename Element, bool of_keys = true>
MZT_DEVICE void summarize_block(const Int8Params& params, void* shared) {
    const int chunk = static_cast<int>(block_index() % params.chunks);
    const int64_t row = block_index() / params.chunks;  // of (batch, kv head)
    const int64_t batch = row / params.kv_heads, head = row % params.kv_heads;
    const int across = params.head_dim / 8, down = kPassThreads / across;
    const int column = thread_index() % across * 8, first = thread_index() / across;
    const int limit = key_limit(params, batch), full = (chunk + 1) * kSummedRows;
    const int end = full < limit ? full : limit;
    const ForwardParams& all = params.forward;
    const Element* k = static_cast<const Element*>(all.k) + batch * all.k_stride.batch + head * all.k_stride.head;
    const Element* v = static_cast<const Element*>(all.v) + batch * all.v_stride.batch + head * all.v_stride.head;

    float sums[8] = {}, largest[8] = {};
    for (int token = chunk * kSummedRows + first; first < down && token < end; token += down) {
        float keys[8] = {}, values[8];
        if constexpr (of_keys) load_eight(keys, k + token * all.k_stride.token + column);
        load_eight(values, v + token * all.v_stride.token + column);
#pragma unroll
        for (int each = 0; each < 8; ++each) {
            sums[each] += keys[each];
            largest[each] = fmaxf(largest[each], fabsf(values[each]));
        }
    }
    float* gathered = static_cast<float*>(shared);  // (2, down, head_dim)
    if (first < down) {
        for (int each = 0; each < 8; ++each) {
            gathered[first * params.head_dim + column + each] = sums[each];
            gathered[(down + first) * params.head_dim + column + each] = largest[each];
        }
    }
    barrier();
    for (int channel = thread_index(); channel < params.head_dim; channel += kPassThreads) {
        float sum = 0, most = 0;
        for (int line = 0; line < down; ++line) {
            sum += gathered[line * params.head_dim + channel];
            most = fmaxf(most, gathered[(down + line) * params.head_dim + channel]);
        }
        const int64_t at = (row * params.chunks + chunk) * params.head_dim + channel;
        if constexpr (of_keys) params.k_sum[at] = sum;
        params.v_largest[at] = most;
    }
}

// Mean of the keys (head_dim) and largest values (head_dim) of one head into shared memory, for the whole block.
MZT_DEVICE void gather_summary(const Int8Params& params, int64_t row, int64_t batch, float* mean) {
    const int tokens = key_limit(params, batch);
    float* largest = mean + params.head_dim;
    for (int channel = thread_index(); channel < params.head_dim; channel += kPassThreads) {
        float sum = 0, most = 0;
        for (int chunk = 0; chunk < params.chunks; ++chunk) {
            const int64_t at = (row * params.chunks + chunk) * params.head_dim + channel;
            sum += params.k_sum[at];
            most = fmaxf(most, params.v_largest[at]);
        }
        mean[channel] = tokens > 0 ? sum / tokens : 0;
        largest[channel] = fmaxf(most, kLeast);
    }
    barrier();
}

MZT_DEVICE int8_t rounded_byte(float number) {
    return static_cast<int8_t>(fminf(127.0f, fmaxf(-127.0f, rintf(number))));
}

// Eight numbers by 127 / largest.
MZT_DEVICE EightBytes quantized(const float (&numbers)[8], float by) {
    EightBytes bytes;
#pragma unroll
    for (int each = 0; each < 8; ++each) {
        bytes.each[each] = rounded_byte(numbers[each] * by);
    }
    return bytes;
}

// A warp: the members of one group of rows, `rows` of them, become bytes under one scale, which it returns.
//
// `row_of(i)` is the row of member i, at `from` + row * stride if it is below `limit`, else zeros.
template <typename Element, class RowOf>
MZT_DEVICE float quantize_group(const Element* from, int64_t stride, int limit, int8_t* to, const Int8Params& params,
                                int rows, const float* mean, RowOf row_of) {
    const int lane = thread_index() % 32;
    const int chunks = params.head_dim / 8, padded = params.padded_dim / 8;
    float largest = 0;
    for (int item = lane; item < rows * chunks; item += 32) {
        const int row = row_of(item / chunks), column = item % chunks * 8;
        if (row >= limit) continue;
        float numbers[8];
        load_eight(numbers, from + row * stride + column);
        for (int each = 0; each < 8; ++each) {
            largest = fmaxf(largest, fabsf(numbers[each] - (mean ? mean[column + each] : 0)));
        }
    }
    largest = fmaxf(warp_maximum(largest), kLeast);
    for (int item = lane; item < rows * padded; item += 32) {
        const int row = row_of(item / padded), column = item % padded * 8;
        float numbers[8] = {};
        if (row < limit && column < params.head_dim) {
            load_eight(numbers, from + row * stride + column);
            for (int each = 0; mean && each < 8; ++each) numbers[each] -= mean[column + each];
        }
        *reinterpret_cast<EightBytes*>(to + static_cast<int64_t>(row) * params.padded_dim + column) =
            quantized(numbers, 127 / largest);
    }
    return largest / 127;
}

// Member `member` of those of 64 keys from `first` on that share a scale.
MZT_DEVICE int key_of_group(int first, int group, int member) {
    return first + member / 2 * 8 + group * 2 + member % 2;
}

// Where a warp's 16 queries are.
struct QueryBlock {
    int64_t row, batch, head;  // row: of (batch, head)
    int first;
};
MZT_DEVICE QueryBlock query_block(const Int8Params& params, int64_t block) {
    const int tiles = (params.q_rows + 63) / 64;
    const int64_t row = block / tiles, heads = params.forward.heads;
    return {row, row / heads, row % heads,
            static_cast<int>(block % tiles) * 64 + thread_index() / 32 * kQueryRows};
}

// A warp: the products of its queries and the keys' mean.
template <typename Element>
MZT_DEVICE void store_query_means(const Int8Params& params, const Element* from, const QueryBlock& at,
                                  const float* mean) {
    const ForwardParams& all = params.forward;
    for (int line = at.first; line < at.first + kQueryRows && line < all.nq; ++line) {
        float sum = 0;
        for (int channel = thread_index() % 32; channel < params.head_dim; channel += 32) {
            sum += to_float(from[line * all.q_stride.token + channel]) * mean[channel];
        }
        sum = warp_sum(sum);
        if (thread_index() % 32 == 0) params.q_mean[at.row * all.nq + line] = sum;
    }
}

// A block: 64 queries of one head, 16 to a warp.
template <typename Element>
MZT_DEVICE void quantize_queries(const Int8Params& params, int64_t block, float* shared) {
    const ForwardParams& all = params.forward;
    const QueryBlock at = query_block(params, block);
    const Element* from = static_cast<const Element*>(all.q) + at.batch * all.q_stride.batch + at.head * all.q_stride.head;
    if (all.lse) gather_summary(params, at.batch * params.kv_heads + at.head / all.heads_per_kv, at.batch, shared);
    if (at.first >= params.q_rows) return;
    int8_t* to = params.q + at.row * params.q_rows * params.padded_dim;
    for (int group = 0; group < 8; ++group) {
        const auto row_of = [&](int member) { return at.first + group + 8 * member; };
        const float scale =
            quantize_group(from, all.q_stride.token, all.nq, to, params, 2, nullptr, row_of);
        const int64_t of_rows = at.row * (params.q_rows / kQueryRows) + at.first / kQueryRows;
        if (thread_index() % 32 == 0) params.q_scale[of_rows * 8 + group] = scale;
    }
    if (all.lse) store_query_means(params, from, at, shared);
}

// A block: 64 values of one head in float16, each column divided by its largest; the first one stores these, too.
template <typename Element>
MZT_DEVICE void halve_values(const Int8Params& params, int64_t row, int tile, const float* largest) {
    const ForwardParams& all = params.forward;
    const int64_t batch = row / params.kv_heads, head = row % params.kv_heads;
    const int limit = key_limit(params, batch), chunks = params.head_dim / 8;
    const Element* v = static_cast<const Element*>(all.v) + batch * all.v_stride.batch + head * all.v_stride.head;
    uint32_t* values = static_cast<uint32_t*>(params.v) + row * params.k_rows * params.head_dim / 2;
    for (int item = thread_index(); item < kKeyRows * chunks; item += kPassThreads) {
        const int token = tile * kKeyRows + item / chunks, column = item % chunks * 8;
        float numbers[8] = {};
        if (token < limit) load_eight(numbers, v + token * all.v_stride.token + column);
        for (int each = 0; each < 8; each += 2) {
            values[(static_cast<int64_t>(token) * params.head_dim + column + each) / 2] =
                pack<float16>(numbers[each] / largest[column + each], numbers[each + 1] / largest[column + each + 1]);
        }
    }
    for (int channel = thread_index(); tile == 0 && channel < params.head_dim; channel += kPassThreads) {
        params.v_scale[row * params.head_dim + channel] = largest[channel];
    }
}

// A block: 64 keys and values of one head; each warp has one group of the keys.
template <typename Element>
MZT_DEVICE void quantize_keys(const Int8Params& params, int64_t block, float* mean) {
    const ForwardParams& all = params.forward;
    const int tiles = params.k_rows / kKeyRows;
    const int64_t row = block / tiles;  // of (batch, kv head)
    const int64_t batch = row / params.kv_heads, head = row % params.kv_heads;
    const int tile = static_cast<int>(block % tiles), group = thread_index() / 32;
    const int limit = key_limit(params, batch);
    gather_summary(params, row, batch, mean);

    const Element* k = static_cast<const Element*>(all.k) + batch * all.k_stride.batch + head * all.k_stride.head;
    const auto row_of = [&](int member) { return key_of_group(tile * kKeyRows, group, member); };
    int8_t* to = params.k + row * params.k_rows * params.padded_dim;
    const float scale = quantize_group(k, all.k_stride.token, limit, to, params, 16, mean, row_of);
    if (thread_index() % 32 == 0) params.k_scale[(row * tiles + tile) * 4 + group] = scale;

    halve_values<Element>(params, row, tile, mean + params.head_dim);
}

// A block: 64 values of one head; nothing else is copied.
template <typename Element>
MZT_DEVICE void halve_block(const Int8Params& params, void* shared) {
    const int tiles = params.k_rows / kKeyRows;
    const int64_t row = block_index() / tiles;  // of (batch, kv head)
    float* largest = static_cast<float*>(shared);
    for (int channel = thread_index(); channel < params.head_dim; channel += kPassThreads) {
        float most = kLeast;
        for (int chunk = 0; chunk < params.chunks; ++chunk) {
            most = fmaxf(most, params.v_largest[(row * params.chunks + chunk) * params.head_dim + channel]);
        }
        largest[channel] = most;
    }
    barrier();
    halve_values<Element>(params, row, static_cast<int>(block_index() % tiles), largest);
}

MZT_DEVICE int64_t query_blocks(const Int8Params& params) {
    return static_cast<int64_t>((params.q_rows + 63) / 64) * params.forward.heads * params.batch;
}

// The first blocks have the queries, the others the keys and values.
template <typename Element>
MZT_DEVICE void quantize_block(const Int8Params& params, void* shared) {
    const int64_t first = query_blocks(params);
    if (block_index() < first) {
        quantize_queries<Element>(params, block_index(), static_cast<float*>(shared));
    } else {
        quantize_keys<Element>(params, block_index() - first, static_cast<float*>(shared));
    }
}

}  // namespace mezzotint
