// From sums to the output: scales and bias where the fragments are; then, in rows of 8 columns to a lane, gate,
// residual, one rounding, and stores of 16 bytes.
#pragma once

#include "../activations.h"
#include "mainloop.h"

namespace mezzotint::gemm {

template <class T>
using Values = float[T::Shape::m_tiles][T::Shape::n_tiles][4];

// The first row and column of this lane's fragments: it has columns +0 and +1 of rows +0 and +8 of each tile of 16 x 8.
template <class T>
MZT_DEVICE int fragment_row(const Place& place) {
    return place.first_row + warp_row<T>() + thread_index() % 32 / 4;
}
template <class T>
MZT_DEVICE int fragment_column(const Place& place) {
    return place.first_column + warp_column<T>() + thread_index() % 4 * 2;
}

// That of the lane in the tile of 8 columns with that number, of the warp; gated ones are values and gates in turn.
template <class T>
MZT_DEVICE int tile_column(const Place& place, int tile) {
    if constexpr (T::is_gated) return place.first_column + warp_column<T>() / 2 + thread_index() % 4 * 2 + tile / 2 * 8;
    return fragment_column<T>(place) + tile * 8;
}

// That of the output's column; floats may have one for all.
template <class T>
MZT_DEVICE float weight_scale(const LinearParams& params, const Layer& layer, int column) {
    if constexpr (T::is_fp8) {
        return layer.weight_scales[params.shares_weight_scale ? 0 : column];
    } else {
        return layer.weight_scales[column];
    }
}

template <class T>
MZT_DEVICE float float_sum(typename T::Sum sum) {
    if constexpr (std::is_same_v<typename T::Sum, float>) {
        return sum;
    } else {
        return static_cast<float>(sum >> T::sum_shift);
    }
}

// values = sums * x_scales * weight_scales + bias; of rows and columns beyond the end, zeros.
template <class T>
MZT_DEVICE void scale_sums(Values<T>& values, const typename T::Sum (&sums)[T::Shape::m_tiles][T::Shape::n_tiles][4],
                           const LinearParams& params, const Layer& layer, const Place& place) {
    using Element = typename T::Element;
    float x_scales[T::Shape::m_tiles][2];
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = fragment_row<T>(place) + m * 16 + half * 8;
            if constexpr (T::has_row_scales) {
                x_scales[m][half] = row < params.rows ? params.x_scales[row] : 0;
            } else {
                x_scales[m][half] = 1;
            }
        }
    }
#pragma unroll
    for (int n = 0; n < T::Shape::n_tiles; ++n) {
        const int column = tile_column<T>(place, n);
        const Layer of_tile = T::is_gated ? part_layer(params, n % 2) : layer;
        float scales[2] = {}, bias[2] = {};
        if (column < params.out_columns) {
            scales[0] = weight_scale<T>(params, of_tile, column);
            scales[1] = weight_scale<T>(params, of_tile, column + 1);
            if (of_tile.bias) {
                bias[0] = to_float(static_cast<const Element*>(of_tile.bias)[column]);
                bias[1] = to_float(static_cast<const Element*>(of_tile.bias)[column + 1]);
            }
        }
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                const float sum = float_sum<T>(sums[m][n][each]);
                values[m][n][each] = sum * x_scales[m][each / 2] * scales[each % 2] + bias[each % 2];
            }
        }
    }
}

// Each lane of a quad has columns 2t and 2t+1 of four tiles; afterwards it has all eight of tile t, in their order.
MZT_DEVICE void turn_quad(float (&pairs)[4][2]) {
    const int lane = thread_index() % 4;
#pragma unroll
    for (int step = 1; step <= 2; step *= 2) {
        const bool high = (lane & step) != 0;
#pragma unroll
        for (int each = 0; each < 2; ++each) {
            const int low = step == 1 ? 2 * each : each;
#pragma unroll
            for (int of_pair = 0; of_pair < 2; ++of_pair) {
                float& first = pairs[low][of_pair];
                float& second = pairs[low + step][of_pair];
                const float received = shuffle_xor(high ? first : second, step);
                (high ? first : second) = received;
            }
        }
    }
}

// Eight columns of one row: residual + gate * values after their activation, each of them where there is one.
template <typename Element>
MZT_DEVICE void write_eight(float (&values)[4][2], const LinearParams& params, int row, int column) {
    const int64_t offset = static_cast<int64_t>(column) * 2;
    if (params.activation == MZT_ACTIVATE_GELU_TANH) {
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
            values[pair][0] = gelu_tanh(values[pair][0]);
            values[pair][1] = gelu_tanh(values[pair][1]);
        }
    }
    if (params.gate) {
        const char* gate = static_cast<const char*>(params.gate) + row / params.rows_per_batch * params.gate_stride;
        const Chunk chunk = *reinterpret_cast<const Chunk*>(gate + offset);
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
            values[pair][0] *= low_number<Element>(chunk.words[pair]);
            values[pair][1] *= high_number<Element>(chunk.words[pair]);
        }
    }
    if (params.residual) {
        const char* residual = static_cast<const char*>(params.residual) + row * params.residual_stride;
        const Chunk chunk = *reinterpret_cast<const Chunk*>(residual + offset);
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
            values[pair][0] += low_number<Element>(chunk.words[pair]);
            values[pair][1] += high_number<Element>(chunk.words[pair]);
        }
    }
    Chunk out;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) out.words[pair] = pack<Element>(values[pair][0], values[pair][1]);
    *reinterpret_cast<Chunk*>(static_cast<char*>(params.out) + row * params.out_stride + offset) = out;
}

template <class T>
MZT_DEVICE void write_out(const Values<T>& values, const LinearParams& params, const Place& place) {
    const int first_column = place.first_column + warp_column<T>() + thread_index() % 4 * 8;
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = fragment_row<T>(place) + m * 16 + half * 8;
#pragma unroll
            for (int n = 0; n < T::Shape::n_tiles; n += 4) {
                float pairs[4][2];
#pragma unroll
                for (int tile = 0; tile < 4; ++tile) {
                    pairs[tile][0] = values[m][n + tile][2 * half];
                    pairs[tile][1] = values[m][n + tile][2 * half + 1];
                }
                turn_quad(pairs);
                const int column = first_column + n * 8;
                if (row < params.rows && column < params.out_columns) {
                    write_eight<typename T::Element>(pairs, params, row, column);
                }
            }
        }
    }
}

}  // namespace mezzotint::gemm
