// The 8-bit queries and keys of a block, and their product: what the loops with 8-bit scores have in common.
#pragma once

#include "../shared_tile.h"
#include "params.h"

namespace mezzotint {

// Pointers to the first row of this block's head in the workspace.
struct Int8Source {
    const int8_t *q, *k;
    const void* v;
    const float *q_scale, *k_scale;
    int first_query, nq, q_rows, k_rows;
};

// Queries are in registers; keys in shared memory, where two tiles of them begin.
template <class T>
class Int8Operands {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;
    using ByteTile = SharedTile<T::padded_dim / 2>;  // bytes, two by two
    static_assert(Shape::tile_n == kKeyRows, "a tile of keys has one scale for each thread");

public:
    MZT_DEVICE Int8Operands(const Int8Source& source, uint32_t shared) : source_(source), shared_(shared) {}

    MZT_DEVICE void load_queries() {
        copy_tile<Architecture, Shape::tile_m, T::padded_dim / 2, Shape::threads>(
            shared_, reinterpret_cast<const uint16_t*>(source_.q), T::padded_dim / 2, source_.first_query,
            source_.q_rows);
        commit_copies<Architecture>();
        wait_copies<Architecture, 0>();
        barrier();
        const uint32_t first = ByteTile::first(shared_, warp_row() + lane() % 16, lane() / 16);
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
            for (int k = 0; k < T::k_steps; ++k) load_matrices(queries_[m][k], ByteTile::at(first, m * 16, 2 * k));
            const int row = source_.first_query + warp_row() + m * 16;
            q_scale_[m] = row < source_.q_rows ? source_.q_scale[row / 2 + lane() / 4] : 0;
        }
        barrier();  // keys and values take the queries' place
    }

    // A tile of keys on its way to stage 0 or 1; there after the next commit and wait.
    MZT_DEVICE void load_keys(int tile, int stage) {
        copy_tile<Architecture, Shape::tile_n, T::padded_dim / 2, Shape::threads>(
            keys(stage), reinterpret_cast<const uint16_t*>(source_.k), T::padded_dim / 2, tile * Shape::tile_n,
            source_.k_rows);
    }

    MZT_DEVICE float q_scale(int m) const { return q_scale_[m]; }
    MZT_DEVICE float k_scale(int tile) const { return source_.k_scale[tile * 4 + lane() % 4]; }

    // Where this lane reads the keys of a stage.
    MZT_DEVICE uint32_t first_key(int stage) const {
        return ByteTile::first(keys(stage), lane() % 8 + lane() / 16 * 8, lane() / 8 % 2);
    }

    // sums += q k^T for 16 keys, from the nth eight on.
    MZT_DEVICE void multiply(int32_t (&sums)[Shape::m_tiles][2][4], uint32_t first, int n) const {
#pragma unroll
        for (int k = 0; k < T::k_steps; ++k) {
            uint32_t b[4];
            load_matrices(b, ByteTile::at(first, n * 8, 2 * k));
#pragma unroll
            for (int m = 0; m < Shape::m_tiles; ++m) {
                multiply_int8<Architecture>(sums[m][0], queries_[m][k], b[0], b[1]);
                multiply_int8<Architecture>(sums[m][1], queries_[m][k], b[2], b[3]);
            }
        }
    }

private:
    MZT_DEVICE static int lane() { return thread_index() % 32; }
    MZT_DEVICE static int warp_row() { return thread_index() / 32 * Shape::rows_per_warp; }

    MZT_DEVICE uint32_t keys(int stage) const { return shared_ + stage * T::k_bytes; }

    Int8Source source_;
    uint32_t shared_;
    uint32_t queries_[Shape::m_tiles][T::k_steps][4];
    float q_scale_[Shape::m_tiles];
};

}  // namespace mezzotint
