// Queries and keys rotated along the head by Hadamard matrices before they are rounded: scores stay as they are, and a
// channel with large numbers becomes many with moderate ones (arXiv 2404.00456).
//
// A head size is a sum of powers of 2, and each has a matrix of its own: 72 = 64 + 8, 112 = 64 + 32 + 16. A row is
// `lanes` lanes' of a warp, 8 columns each: three steps in their registers, the others by shuffles.
#pragma once

#include "quantize.h"

namespace mezzotint {

// Chunks of 8 columns that are rotated together with this one.
MZT_DEVICE int chunks_together(int chunks, int chunk) {
    int begin = 0;
    for (int size = 16; size > 1; size /= 2) {
        if (!(chunks & size)) continue;
        if (chunk < begin + size) return size;
        begin += size;
    }
    return 1;
}

template <int lanes>
MZT_DEVICE void rotate(float (&x)[8], int chunk, int together) {
#pragma unroll
    for (int apart = 1; apart < 8; apart *= 2) {
#pragma unroll
        for (int each = 0; each < 8; ++each) {
            if (each & apart) continue;
            const float low = x[each], high = x[each + apart];
            x[each] = low + high;
            x[each + apart] = low - high;
        }
    }
    float by = 0.35355339f;  // 1 / sqrt(8)
#pragma unroll
    for (int apart = 1; apart < lanes; apart *= 2) {
        const bool meets = apart < together;
        if (meets) by *= 0.70710678f;
#pragma unroll
        for (int each = 0; each < 8; ++each) {
            const float other = shuffle_xor(x[each], apart);
            if (meets) x[each] = chunk & apart ? other - x[each] : x[each] + other;
        }
    }
#pragma unroll
    for (int each = 0; each < 8; ++each) x[each] *= by;
}

// This lane's part of a row, less the mean where there is one, rotated; zeros from row `limit` on.
template <int lanes, typename Element>
MZT_DEVICE void load_rotated(float (&to)[8], const Element* from, int64_t stride, int row, int limit,
                             const Int8Params& params, const float* mean) {
    const int chunk = thread_index() % lanes, chunks = params.head_dim / 8;
#pragma unroll
    for (int each = 0; each < 8; ++each) to[each] = 0;
    if (row < limit && chunk < chunks) {
        load_eight(to, from + row * stride + chunk * 8);
#pragma unroll
        for (int each = 0; mean && each < 8; ++each) to[each] -= mean[chunk * 8 + each];
    }
    rotate<lanes>(to, chunk, chunks_together(chunks, chunk));
}

template <int lanes>
MZT_DEVICE void store_rotated(int8_t* to, const float (&numbers)[8], int row, float by, const Int8Params& params) {
    const int column = thread_index() % lanes * 8;
    if (column >= params.padded_dim) return;
    *reinterpret_cast<EightBytes*>(to + static_cast<int64_t>(row) * params.padded_dim + column) =
        quantized(numbers, by);
}

MZT_DEVICE float largest_of(const float (&numbers)[8], float largest) {
#pragma unroll
    for (int each = 0; each < 8; ++each) largest = fmaxf(largest, fabsf(numbers[each]));
    return largest;
}

// A warp: 16 rows of queries from `first` on, rows r and r + 8 under one scale, several r at once.
template <int lanes, typename Element>
MZT_DEVICE void quantize_rotated_queries(const Element* from, int64_t stride, int first, int8_t* to, float* scales,
                                         const Int8Params& params) {
    constexpr int together = 16 / lanes;  // pairs of rows at once
    const int slot = thread_index() % 32 / lanes;
#pragma unroll
    for (int step = 0; step < 8 / together; ++step) {
        const int group = step * together + slot / 2, row = first + group + slot % 2 * 8;
        float numbers[8];
        load_rotated<lanes>(numbers, from, stride, row, params.forward.nq, params, nullptr);
        float largest = largest_of(numbers, kLeast);
#pragma unroll
        for (int apart = lanes; apart > 0; apart /= 2) largest = fmaxf(largest, shuffle_xor(largest, apart));
        store_rotated<lanes>(to, numbers, row, 127 / largest, params);
        if (thread_index() % (2 * lanes) == 0) scales[group] = largest / 127;
    }
}

// A warp: 16 keys of a tile of 64, those that share scale `group`; it is returned.
template <int lanes, typename Element>
MZT_DEVICE float quantize_rotated_keys(const Element* from, int64_t stride, int first, int limit, int8_t* to,
                                       const Int8Params& params, const float* mean) {
    constexpr int slots = 32 / lanes, steps = 16 / slots;
    const int group = thread_index() / 32, slot = thread_index() % 32 / lanes;
    float numbers[steps][8], largest = kLeast;
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        const int row = key_of_group(first, group, step * slots + slot);
        load_rotated<lanes>(numbers[step], from, stride, row, limit, params, mean);
        largest = largest_of(numbers[step], largest);
    }
    largest = warp_maximum(largest);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        const int row = key_of_group(first, group, step * slots + slot);
        store_rotated<lanes>(to, numbers[step], row, 127 / largest, params);
    }
    return largest / 127;
}

}  // namespace mezzotint
