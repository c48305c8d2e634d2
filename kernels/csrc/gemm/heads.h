// Queries and keys on their way out, while they are fragments: the norm of each head, and its rotation by position.
#pragma once

#include <math.h>

#include "epilogue.h"

namespace mezzotint::gemm {

// Cosine and sine of a pair of columns, read at once.
struct alignas(8) Rotation {
    float cosine, sine;
};

// The sum over a row's part in this lane, and then over the warp's columns.
template <class T>
MZT_DEVICE float sum_of_squares(const Values<T>& values, int m, int half) {
    float sum = 0;
#pragma unroll
    for (int n = 0; n < T::Shape::n_tiles; ++n) {
#pragma unroll
        for (int each = 0; each < 2; ++each) sum += values[m][n][2 * half + each] * values[m][n][2 * half + each];
    }
    sum += shuffle_xor(sum, 1);
    return sum + shuffle_xor(sum, 2);
}

// A row's place on the board: one for each warp that has some of its columns.
template <class T>
MZT_DEVICE int board_row(int m, int half) {
    return (warp_row<T>() + thread_index() % 32 / 4 + m * 16 + half * 8) * T::Shape::warps_n;
}

// Divide each head by the root of its mean square plus epsilon. A head is that of one warp, or of several neighbours,
// which tell each other their sums in `board`, shared memory that the main loop is done with.
template <class T>
MZT_DEVICE void normalize_heads(Values<T>& values, const LinearParams& params, float* board) {
    constexpr int columns = 8 * T::Shape::n_tiles;
    const int warp = thread_index() / 32 % T::Shape::warps_n;
    const int warps = params.head_dim / columns, first = warp / warps * warps;
    barrier();  // all are done with what lies there
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float sum = sum_of_squares<T>(values, m, half);
            if (thread_index() % 4 == 0) board[board_row<T>(m, half) + warp] = sum;
        }
    }
    barrier();  // the sums are there for all
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float sum = 0;
            for (int each = 0; each < warps; ++each) sum += board[board_row<T>(m, half) + first + each];
            const float by = 1 / sqrtf(sum / static_cast<float>(params.head_dim) + params.epsilon);
#pragma unroll
            for (int n = 0; n < T::Shape::n_tiles; ++n) {
                values[m][n][2 * half] *= by;
                values[m][n][2 * half + 1] *= by;
            }
        }
    }
}

// Times the norm's weight; the lane's columns are the same in all rows.
template <class T>
MZT_DEVICE void weigh_heads(Values<T>& values, const void* weight, int first_column) {
    using Element = typename T::Element;
#pragma unroll
    for (int n = 0; n < T::Shape::n_tiles; ++n) {
        const Element* pair = static_cast<const Element*>(weight) + first_column + n * 8;
        const float weights[2] = {to_float(pair[0]), to_float(pair[1])};
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
            for (int each = 0; each < 4; ++each) values[m][n][each] *= weights[each % 2];
        }
    }
}

template <class T>
MZT_DEVICE void rotate_heads(Values<T>& values, const LinearParams& params, const Place& place, int first_column) {
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = fragment_row<T>(place) + m * 16 + half * 8;
            if (row >= params.rows) continue;
            const int64_t numbers = static_cast<int64_t>(row % params.rotation_rows) * params.head_dim;
            const float* rotations = params.rotations + numbers + first_column;
#pragma unroll
            for (int n = 0; n < T::Shape::n_tiles; ++n) {
                const Rotation by = *reinterpret_cast<const Rotation*>(rotations + n * 8);
                float& first = values[m][n][2 * half];
                float& second = values[m][n][2 * half + 1];
                const float turned = first * by.cosine - second * by.sine;
                second = second * by.cosine + first * by.sine;
                first = turned;
            }
        }
    }
}

template <class T>
MZT_DEVICE void finish_heads(Values<T>& values, const LinearParams& params, const Layer& layer, const Place& place,
                             float* board) {
    const int first_column = (fragment_column<T>(place) - layer.first_column) % params.head_dim;
    if (layer.flags & MZT_PART_NORM) {
        normalize_heads<T>(values, params, board);
        if (layer.norm_weight) weigh_heads<T>(values, layer.norm_weight, first_column);
    }
    if (layer.flags & MZT_PART_ROTATE) rotate_heads<T>(values, params, place, first_column);
}

}  // namespace mezzotint::gemm
