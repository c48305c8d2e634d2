// One thread's part in bringing the scales of a tile's blocks to shared memory, and a lane's in reading them there.
#pragma once

#include "traits.h"

namespace mezzotint::block_scaled {

// Where a row's scales are among those of its tile. Lanes that read 8 bytes at once, 16 of them, have rows 0 to 3 of four
// tiles of 8: exchanged halves in every other 16 rows keep all of these at banks of their own.
MZT_DEVICE int place_of_scales(int row) { return row ^ (row >> 2 & 4); }

template <class T, int rows>
class ScaleTiles {
    static constexpr int threads = T::Shape::threads;
    static constexpr int each = (rows + threads - 1) / threads;
    static_assert(rows % threads == 0 || threads % rows == 0, "whole rounds of threads, or a part of one");

public:
    MZT_DEVICE ScaleTiles(const uint8_t* scales, int64_t stride, int first_row, int rows_left, uint32_t shared)
        : from_(scales + (first_row + thread_index()) * stride), stride_(stride), rows_left_(rows_left), shared_(shared) {}

    MZT_DEVICE uint32_t at(int tile) const { return shared_ + tile % T::stages * (rows * T::scale_bytes); }

    MZT_DEVICE void begin(int tile) const {
        const int column = T::format == MZT_NVFP4 ? tile * 8 : tile / 2 * 4;
        const uint8_t* from = from_ + column;
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const int row = thread_index() + i * threads;
            if (row < rows) {
                copy_few<T::scale_bytes>(at(tile) + place_of_scales(row) * T::scale_bytes, from, row < rows_left_);
            }
            from += threads * stride_;
        }
    }

private:
    const uint8_t* from_;
    int64_t stride_;
    int rows_left_;
    uint32_t shared_;
};

// The scales of `tiles` tiles of 16 rows from `first_row` on, for a: two in a register, of lanes 0 and 1 of a quad, and
// of 2 and 3.
template <class T, int tiles>
MZT_DEVICE void load_scales_of_rows(uint32_t (&to)[tiles / 2][T::scale_words], uint32_t scales, int first_row) {
    const int lane = thread_index() % 32;
    const int row = first_row + lane / 4 + lane % 2 * 8 + lane % 4 / 2 * 16;
#pragma unroll
    for (int pair = 0; pair < tiles / 2; ++pair) {
        load_shared(to[pair], scales + place_of_scales(row + pair * 32) * T::scale_bytes);
    }
}

// The same for tiles of 8 columns, for b: two in a register, of lanes 0 and 1 of a quad.
template <class T, int tiles>
MZT_DEVICE void load_scales_of_columns(uint32_t (&to)[tiles / 2][T::scale_words], uint32_t scales, int first_column) {
    const int lane = thread_index() % 32;
    const int column = first_column + lane / 4 + lane % 2 * 8;
#pragma unroll
    for (int pair = 0; pair < tiles / 2; ++pair) {
        load_shared(to[pair], scales + place_of_scales(column + pair * 16) * T::scale_bytes);
    }
}

}  // namespace mezzotint::block_scaled
