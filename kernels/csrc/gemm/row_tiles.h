// One thread's part in bringing rows of bytes to shared memory, 64 columns of them at a time: x, weights of 8 bits, and
// the 16-bit numbers of the branch.
//
// begin() and end() embrace the multiplication of another tile. Asynchronous copies are queued by the first, and the
// second has nothing to do; Turing reads into registers by the first and writes to shared memory by the second.
#pragma once

#include "../attention/shared_tile.h"
#include "traits.h"

namespace mezzotint::gemm {

using ByteTile = SharedTile<kTileDepth / 2>;  // bytes, two by two

template <class Architecture, int rows, int threads, int stages>
class RowTiles {
protected:
    static constexpr int chunks = kTileDepth / 16;  // of a row
    static constexpr int down = threads / chunks;
    static constexpr int each = rows / down;

private:
    static constexpr bool held = !Architecture::has_async_copies;
    static_assert(rows % down == 0 && down % 8 == 0, "the swizzle repeats every 8 rows");

public:
    // `first` is the tile's first row; rows from `rows_left` on and columns (bytes) from `columns` on become zeros.
    MZT_DEVICE RowTiles(const void* first, int64_t stride, int rows_left, int columns, uint32_t shared)
        : from_(static_cast<const char*>(first) + row() * stride + column()),
          stride_(stride),
          rows_left_(rows_left - row()),
          columns_left_(columns - column()),
          shared_(shared) {}

    // Rows of two matrices in turn, eight of each; `rows_left` are those of either.
    MZT_DEVICE RowTiles(const void* first, const void* second, int64_t stride, int rows_left, int columns,
                        uint32_t shared)
        : from_(static_cast<const char*>(row() % 16 < 8 ? first : second) + row_of_pair() * stride + column()),
          stride_(stride / 2),
          rows_left_(2 * (rows_left - row_of_pair())),
          columns_left_(columns - column()),
          shared_(shared) {
        static_assert(down % 16 == 0, "all rows of a thread are of one matrix");
    }

    // Where a tile of 64 columns is, when it is there.
    MZT_DEVICE uint32_t at(int tile) const { return shared_ + tile % stages * (rows * kTileDepth); }

    MZT_DEVICE void begin(int tile) {
        const char* from = from_ + tile * kTileDepth;
        const bool inside = tile * kTileDepth < columns_left_;
#pragma unroll
        for (int i = 0; i < each; ++i) {
            bring(tile, i, from, inside && i * down < rows_left_);
            from += down * stride_;
        }
    }

    MZT_DEVICE void end(int tile) const {
        if constexpr (held) {
#pragma unroll
            for (int i = 0; i < each; ++i) store_shared16(mine(tile) + i * down * kTileDepth, held_[i]);
        }
    }

    // Weights of 8 bits have no scales but those of their rows.
    MZT_DEVICE void read_scales(int) const {}

protected:
    MZT_DEVICE static int row() { return thread_index() / chunks; }
    MZT_DEVICE static int column() { return thread_index() % chunks * 16; }

    // This thread's part of its row with that number.
    MZT_DEVICE void bring(int tile, int i, const char* from, bool wanted) {
        if constexpr (held) {
            held_[i] = wanted ? *reinterpret_cast<const Chunk*>(from) : Chunk{};
        } else {
            copy16<Architecture>(mine(tile) + i * down * kTileDepth, from, wanted);
        }
    }

private:
    MZT_DEVICE static int row_of_pair() { return row() / 16 * 8 + row() % 8; }
    MZT_DEVICE uint32_t mine(int tile) const { return ByteTile::first(at(tile), row(), thread_index() % chunks); }

    const char* from_;
    int64_t stride_;
    int rows_left_, columns_left_;  // from this thread's first on
    uint32_t shared_;
    Chunk held_[held ? each : 1];
};

}  // namespace mezzotint::gemm
