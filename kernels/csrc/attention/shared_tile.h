// Rows of 16-bit numbers in shared memory, laid out so that matrix loads never wait for a bank.
//
// A row is C = columns / 8 chunks of 16 bytes; eight chunks fill all banks once. With g = gcd(C, 8), rows 8/g apart
// begin at the same bank: chunk c of row r is stored at c ^ ((r / (8/g)) % g). Where C is odd nothing needs to move.
//
// The pattern repeats every 8 rows and touches only the lowest log2(g) bits of the chunk's number. So a lane needs one
// register for a whole tile: rows 8, 16, ... further are a constant further, and other chunks one exclusive-or away.
#pragma once

#include "../primitives.h"

namespace mezzotint {

template <int columns>
struct SharedTile {
    static constexpr int chunks = columns / 8;
    static constexpr int swizzled = chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;  // g
    static constexpr int row_bytes = chunks * 16;

    // The address of a chunk below `swizzled` (any, where nothing is swizzled); `begin` is a multiple of 128.
    MZT_DEVICE static uint32_t first(uint32_t begin, int row, int chunk) {
        const int moved = swizzled == 1 ? chunk : chunk ^ (row / (8 / swizzled) % swizzled);
        return begin + static_cast<uint32_t>(row * row_bytes + moved * 16);
    }

    // From there `rows` rows down (a multiple of 8) and `more` chunks on, both known when compiling; the chunk that
    // first() was given and `more` have no bit in common below `swizzled`.
    MZT_DEVICE static uint32_t at(uint32_t first, int rows, int more) {
        const int low = more & (swizzled - 1), high = more - low;
        return (first ^ static_cast<uint32_t>(low * 16)) + static_cast<uint32_t>(rows * row_bytes + high * 16);
    }
};

// One thread's part in copying tiles of `rows` rows of `columns` numbers from global to shared memory.
//
// So many threads share a row as swizzle together; where that is one, eight take turns. Between two tiles a thread keeps
// little more than where its first chunk comes from: registers are what a main loop is short of.
template <class Architecture, int rows, int columns, int threads, typename Element>
class TileCopy {
    using Tile = SharedTile<columns>;
    static constexpr int across = Tile::swizzled == 1 ? 8 : Tile::swizzled;
    static constexpr int down = threads / across;
    static_assert(rows % 8 == 0 && down % 8 == 0, "the pattern repeats every 8 rows");

public:
    MZT_DEVICE TileCopy(const Element* from, int64_t row_stride)
        : from_(from + row() * row_stride + chunk() * 8), row_stride_(row_stride) {}

    // Rows first, first + 1, ...; those from `limit` on become zeros.
    MZT_DEVICE void copy(uint32_t to, int first, int limit) const {
        const uint32_t address = Tile::first(to, row(), chunk());
        const Element* source = from_ + first * row_stride_;
#pragma unroll
        for (int below = 0; below < rows; below += down) {
            if (rows % down != 0 && below + row() >= rows) break;
            const bool wanted = first + row() + below < limit;
#pragma unroll
            for (int more = 0; more < Tile::chunks; more += across) {
                if (Tile::chunks % across != 0 && more + chunk() >= Tile::chunks) break;
                copy16<Architecture>(address + below * Tile::row_bytes + more * 16, source + more * 8, wanted);
            }
            source += down * row_stride_;
        }
    }

private:
    MZT_DEVICE static int row() { return thread_index() / across; }
    MZT_DEVICE static int chunk() { return thread_index() % across; }

    const Element* from_;
    int64_t row_stride_;
};

// One tile, by all threads.
template <class Architecture, int rows, int columns, int threads, typename Element>
MZT_DEVICE void copy_tile(uint32_t to, const Element* from, int64_t row_stride, int first, int limit) {
    TileCopy<Architecture, rows, columns, threads, Element>(from, row_stride).copy(to, first, limit);
}

}  // namespace mezzotint
