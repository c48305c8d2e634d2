// Moving rows to shared memory and adding to sums in global memory, with nothing kept in registers from step to step.
#pragma once

#include "../shared_tile.h"

namespace mezzotint {
namespace backward_pass {

struct alignas(16) Four {
    float at[4];
};
// Adds two neighbours without waiting for what is there. Where other blocks add as well, the order is left open; a
// thread's own additions keep theirs.
MZT_DEVICE void add_pair(float* to, float low, float high) {
#ifdef MEZZOTINT_EMULATOR
    to[0] += low;
    to[1] += high;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    atomicAdd(reinterpret_cast<float2*>(to), make_float2(low, high));
#else
    atomicAdd(to, low);
    atomicAdd(to + 1, high);
#endif
}

// The same number, which the compiler takes for another: what is computed from it is computed where it is needed.
MZT_DEVICE int anew(int value) {
#ifndef MEZZOTINT_EMULATOR
    asm volatile("" : "+r"(value));
#endif
    return value;
}

// What copy_tile does, with all addresses computed anew.
template <class Architecture, int rows, int columns, int threads, typename Element>
MZT_DEVICE void copy_rows(uint32_t to, const Element* from, int64_t row_stride, int first, int limit) {
    using Tile = SharedTile<columns>;
    constexpr int across = Tile::swizzled == 1 ? 8 : Tile::swizzled, down = threads / across;
    static_assert(rows % 8 == 0 && down % 8 == 0, "the pattern repeats every 8 rows");
    const int thread = thread_index_anew(), row = thread / across, chunk = thread % across;
    const uint32_t address = Tile::first(to, row, chunk);
    const Element* source = from + (first + row) * row_stride + chunk * 8;
#pragma unroll
    for (int below = 0; below < rows; below += down) {
        if (rows % down != 0 && below + row >= rows) break;
        const bool wanted = first + row + below < limit;
#pragma unroll
        for (int more = 0; more < Tile::chunks; more += across) {
            if (Tile::chunks % across != 0 && more + chunk >= Tile::chunks) break;
            copy16<Architecture>(address + below * Tile::row_bytes + more * 16, source + more * 8, wanted);
        }
        source += down * row_stride;
    }
}

}  // namespace backward_pass
}  // namespace mezzotint
