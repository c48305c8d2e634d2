// From numbers in memory to what is rotated: read, activated or normalized, modulated.
#pragma once

#include <math.h>

#include "../activations.h"
#include "../api.h"
#include "teams.h"

namespace mezzotint::quantize {

MZT_DEVICE Chunk load_chunk(const void* row, int column) {
    return *reinterpret_cast<const Chunk*>(static_cast<const char*>(row) + column * int64_t{2});
}

// All chunks of a lane at `row`, zeros where there is no column: they are on their way together.
MZT_DEVICE void load_chunks(Chunk (&to)[kChunks], const void* row, const Place& place, const QuantizeParams& params) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        to[chunk] = Chunk{};
        if (is_inside(place, params, chunk)) to[chunk] = load_chunk(row, column_of(place, chunk));
    }
}

template <typename Element>
MZT_DEVICE void unpack(float (&to)[kEight], const Chunk& from) {
#pragma unroll
    for (int word = 0; word < 4; ++word) {
        to[2 * word] = low_number<Element>(from.words[word]);
        to[2 * word + 1] = high_number<Element>(from.words[word]);
    }
}

template <int preparation>
MZT_DEVICE float activate(float x) {
    if constexpr (preparation == MZT_SILU) return silu(x);
    if constexpr (preparation == MZT_GELU_TANH) return gelu_tanh(x);
    return x;
}

template <int preparation>
MZT_DEVICE void activate_all(Numbers& x) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
        for (int each = 0; each < kEight; ++each) x[chunk][each] = activate<preparation>(x[chunk][each]);
    }
}

// x times gelu of the other half of the row.
template <typename Element>
MZT_DEVICE void multiply_by_gates(Numbers& x, const void* gates, const Place& place, const QuantizeParams& params) {
    Chunk chunks[kChunks];
    load_chunks(chunks, gates, place, params);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        float gate[kEight];
        unpack<Element>(gate, chunks[chunk]);
#pragma unroll
        for (int each = 0; each < kEight; ++each) x[chunk][each] *= gelu(gate[each]);
    }
}

// This lane's part of its row, activated.
template <typename Element, int preparation>
MZT_DEVICE void read_row(Numbers& x, const Place& place, const QuantizeParams& params) {
    const char* row = static_cast<const char*>(params.x) + place.row * params.x_stride;
    Chunk chunks[kChunks];
    load_chunks(chunks, row, place, params);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) unpack<Element>(x[chunk], chunks[chunk]);
    if constexpr (preparation == MZT_GEGLU) {
        multiply_by_gates<Element>(x, row + params.columns * int64_t{2}, place, params);
    } else {
        activate_all<preparation>(x);
    }
}

MZT_DEVICE float sum_of_squares(const Numbers& x) {
    float sum = 0;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
        for (int each = 0; each < kEight; ++each) sum += x[chunk][each] * x[chunk][each];
    }
    return sum;
}

// x less the row's mean; what is no column stays 0.
MZT_DEVICE void subtract_mean(Numbers& x, const Place& place, const QuantizeParams& params, float* board) {
    float sum = 0;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
        for (int each = 0; each < kEight; ++each) sum += x[chunk][each];
    }
    const float mean = join_row<Sum>(sum, place, params, board) / static_cast<float>(params.columns);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        if (!is_inside(place, params, chunk)) continue;
#pragma unroll
        for (int each = 0; each < kEight; ++each) x[chunk][each] -= mean;
    }
}

// What makes the variance, or the mean of squares, of a row 1; the mean is taken off.
template <int preparation>
MZT_DEVICE float normalize(Numbers& x, const Place& place, const QuantizeParams& params, float* mean_board,
                           float* square_board) {
    if constexpr (preparation == MZT_LAYER_NORM) subtract_mean(x, place, params, mean_board);
    const float sum = join_row<Sum>(sum_of_squares(x), place, params, square_board);
    return 1 / sqrtf(sum / static_cast<float>(params.columns) + params.epsilon);
}

// x times `by`, and times the norm's weight and plus its bias where it has them.
template <typename Element>
MZT_DEVICE void scale(Numbers& x, float by, const Place& place, const QuantizeParams& params) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        float numbers[kEight];
#pragma unroll
        for (int each = 0; each < kEight; ++each) x[chunk][each] *= by;
        if (params.norm_weight && is_inside(place, params, chunk)) {
            unpack<Element>(numbers, load_chunk(params.norm_weight, column_of(place, chunk)));
#pragma unroll
            for (int each = 0; each < kEight; ++each) x[chunk][each] *= numbers[each];
        }
        if (params.norm_bias && is_inside(place, params, chunk)) {
            unpack<Element>(numbers, load_chunk(params.norm_bias, column_of(place, chunk)));
#pragma unroll
            for (int each = 0; each < kEight; ++each) x[chunk][each] += numbers[each];
        }
    }
}

// x times `by` (1 + gain) + shift, of the batch that the row belongs to.
template <typename Element>
MZT_DEVICE void modulate(Numbers& x, float by, const Place& place, const QuantizeParams& params) {
    const int64_t offset = place.row / params.rows_per_batch * params.modulation_stride;
    const char* gain = static_cast<const char*>(params.gain) + offset;
    const char* shift = static_cast<const char*>(params.shift) + offset;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        if (!is_inside(place, params, chunk)) continue;
        float gains[kEight], shifts[kEight];
        unpack<Element>(gains, load_chunk(gain, column_of(place, chunk)));
        unpack<Element>(shifts, load_chunk(shift, column_of(place, chunk)));
#pragma unroll
        for (int each = 0; each < kEight; ++each) {
            x[chunk][each] = x[chunk][each] * (by + by * gains[each]) + shifts[each];
        }
    }
}

// This lane's part of its row, as it is before it is rotated.
template <typename Element, int preparation>
MZT_DEVICE void prepare(Numbers& x, const Place& place, const QuantizeParams& params, float* mean_board,
                        float* square_board) {
    constexpr bool is_norm = preparation == MZT_LAYER_NORM || preparation == MZT_RMS_NORM;
    read_row<Element, preparation>(x, place, params);
    float by = 1;
    if constexpr (is_norm) by = normalize<preparation>(x, place, params, mean_board, square_board);
    if (is_norm && (!params.gain || params.norm_weight || params.norm_bias)) {
        scale<Element>(x, by, place, params);
        by = 1;
    }
    if (params.gain) modulate<Element>(x, by, place, params);
}

}  // namespace mezzotint::quantize
