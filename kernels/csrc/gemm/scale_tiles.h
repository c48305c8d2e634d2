// One thread's part in bringing scales by group to shared memory, beside the tiles that they belong to: those of x, a row
// of floats for each of the tile's groups, then those of the weight, rows of halves.
#pragma once

#include "params.h"
#include "traits.h"

namespace mezzotint::gemm {

constexpr int kGroupBytes = 32;  // of 64 columns of 4 bits
constexpr int kTileGroups = kTileDepth / kGroupBytes;

template <class T>
class ScaleTiles {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;
    static constexpr int x_chunks = Shape::tile_m / 4, weight_chunks = Shape::tile_n / 8;  // of a group
    static constexpr int chunks = kTileGroups * (x_chunks + weight_chunks);
    static constexpr int weight_begin = kTileGroups * Shape::tile_m * 4;

    static_assert(chunks * 16 == T::scales_bytes, "one chunk after the other");

public:
    MZT_DEVICE ScaleTiles(const LinearParams& params, int first_row, int first_column, uint32_t shared)
        : params_(params), first_row_(first_row), first_column_(first_column), shared_(shared) {}

    // Where a tile's are: of a group of x, and of the weight.
    MZT_DEVICE uint32_t x_at(int tile, int group) const { return at(tile) + group * (Shape::tile_m * 4); }
    MZT_DEVICE uint32_t weight_at(int tile, int group) const {
        return at(tile) + weight_begin + group * (Shape::tile_n * 2);
    }

    // Copied asynchronously or, on Turing, at once: this tile's place is free by then.
    MZT_DEVICE void begin(int tile) const {
        const int groups = params_.in_bytes / kGroupBytes;
#pragma unroll
        for (int first = 0; first < chunks; first += Shape::threads) {
            const int chunk = first + thread_index();
            if (chunks % Shape::threads != 0 && chunk >= chunks) break;
            const bool is_x = chunk < kTileGroups * x_chunks;
            const int within = is_x ? chunk : chunk - kTileGroups * x_chunks;
            const int of_group = is_x ? x_chunks : weight_chunks;
            const int group = tile * kTileGroups + within / of_group;
            const int index = (is_x ? first_row_ : first_column_) + within % of_group * (is_x ? 4 : 8);
            const bool wanted = group < groups && index < (is_x ? params_.rows : params_.out_columns);
            const char* from = static_cast<const char*>(is_x ? params_.x_group_scales : params_.weight_group_scales);
            const int64_t stride = is_x ? params_.x_group_scales_stride : params_.weight_group_scales_stride;
            copy16<Architecture>(at(tile) + chunk * 16, from + group * stride + index * (is_x ? 4 : 2), wanted);
        }
    }

private:
    MZT_DEVICE uint32_t at(int tile) const { return shared_ + tile % T::stages * T::scales_bytes; }

    const LinearParams& params_;
    int first_row_, first_column_;
    uint32_t shared_;
};

}  // namespace mezzotint::gemm
