// One block's work: its queries against all keys that they may see, a tile at a time, from the last to the first (those
// of a table, where there is one).
//
// The ragged tile and the causal edge come first; for all other tiles one test, the same for the whole block, passes
// masking by. While a tile's scores become weights its values arrive, and the next tile's keys (from Ampere on).
//
//     wait for K(j), barrier | start V(j), K(j-1) | S = Q K(j)^T | softmax | wait for V(j), barrier | O += P V(j)
#pragma once

#include "dropout.h"
#include "mask.h"
#include "params.h"
#include "products.h"
#include "shared_tile.h"
#include "softmax.h"
#include "tile_walk.h"
#include "traits.h"

namespace mezzotint {

template <class T>
class Mainloop {
    using Architecture = typename T::Architecture;
    using Element = typename T::Element;
    using Value = typename T::Value;
    using Shape = typename T::Shape;
    using KeyTile = SharedTile<T::head_dim>;
    using ValueTile = SharedTile<T::slice_dim>;

public:
    // Pointers to the first row of this block's head, and of its columns of the values.
    struct Source {
        const Element *q, *k;
        const Value* v;
        int64_t q_row, k_row, v_row;
        int first_query, nq, key_limit;
        HeadDropout dropout;
    };

    // What multiply_keys asks for: 16 rows by 16 columns of this warp's queries, and by the last 8.
    MZT_DEVICE void queries(uint32_t (&to)[4], int m, int k) const {
        if constexpr (Shape::q_in_registers) {
#pragma unroll
            for (int each = 0; each < 4; ++each) to[each] = queries_[m][k][each];
        } else {
            load_matrices(to, query_address(m, k));
        }
    }
    MZT_DEVICE void query_rest(uint32_t (&to)[2], int m) const {
        if constexpr (Shape::q_in_registers) {
            to[0] = query_rest_[m][0];
            to[1] = query_rest_[m][1];
        } else {
            load_matrices(to, query_rest_address(m));
        }
    }

    float out[Shape::m_tiles][T::out_tiles][4] = {};
    RowState rows[Shape::m_tiles];

    MZT_DEVICE Mainloop(const Source& source, uint32_t shared)
        : source_(source), shared_(shared), key_copy_(source.k, source.k_row), value_copy_(source.v, source.v_row) {}

    // Gather the tiles of keys; the first `masked_steps` of them are looked at key by key. The number of a tile is asked
    // for two steps ahead, since its keys are one step ahead.
    MZT_DEVICE void run(const TileWalk<T>& walk, int masked_steps, const Sight& sight, float factor) {
        load_queries();
        if (walk.steps == 0) return;
        const int last = walk.steps - 1;
        int tile = walk.at(last), next = walk.at(last - 1);
        load_keys(tile, last);
        if constexpr (kFollowsTables<T>) {
            for (int step = last; step >= 0; --step) {
                const int after = walk.at(step - 2);
                take(walk, step, tile, next, true, sight, factor);
                tile = next;
                next = after;
            }
        } else {
            for (int each = last; each >= 0; --each) {
                take(walk, each, each, each - 1, each >= walk.steps - masked_steps, sight, factor);
            }
        }
    }

private:
    MZT_DEVICE static int lane() { return thread_index() % 32; }
    MZT_DEVICE static int warp_row() { return thread_index() / 32 * Shape::rows_per_warp; }
    MZT_DEVICE uint32_t keys(int step) const {
        return shared_ + T::kv_begin + static_cast<uint32_t>(step) % Shape::k_stages * T::k_bytes;
    }
    MZT_DEVICE uint32_t values() const { return shared_ + T::v_begin; }

    MZT_DEVICE void load_queries() {
        copy_tile<Architecture, Shape::tile_m, T::head_dim, Shape::threads>(shared_, source_.q, source_.q_row,
                                                                            source_.first_query, source_.nq);
        commit_copies<Architecture>();
        if constexpr (Shape::q_in_registers) {
            wait_copies<Architecture, 0>();
            barrier();
#pragma unroll
            for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
                for (int k = 0; k < T::k_steps; ++k) load_matrices(queries_[m][k], query_address(m, k));
                if constexpr (T::k_rest) load_matrices(query_rest_[m], query_rest_address(m));
            }
            barrier();  // keys and values take the queries' place
        }
    }

    // This lane's part in loading matrices: a 16x16 piece of the queries, or the left half of the last one;
    MZT_DEVICE uint32_t query_address(int m, int k) const {
        return KeyTile::at(KeyTile::first(shared_, warp_row() + lane() % 16, lane() / 16), m * 16, 2 * k);
    }
    MZT_DEVICE uint32_t query_rest_address(int m) const {
        return KeyTile::at(KeyTile::first(shared_, warp_row() + lane() % 16, 0), m * 16, 2 * T::k_steps);
    }
    // 16 keys by 16 columns, or 32 keys by the last 8.
    MZT_DEVICE uint32_t key(int step) const {
        return KeyTile::first(keys(step), lane() % 8 + lane() / 16 * 8, lane() / 8 % 2);
    }
    MZT_DEVICE uint32_t key_rest(int step) const { return KeyTile::first(keys(step), lane(), 0); }

    MZT_DEVICE void load_keys(int tile, int step) {
        if (step >= 0) {
            key_copy_.copy(keys(step), TileWalk<T>::number(tile) * Shape::tile_n, source_.key_limit);
        }
        commit_copies<Architecture>();
    }

    MZT_DEVICE void load_values(int first_key) {
        value_copy_.copy(values(), first_key, source_.key_limit);
        commit_copies<Architecture>();
    }

    MZT_DEVICE void take(const TileWalk<T>& walk, int step, int tile, int next, bool masked, const Sight& sight,
                         float factor) {
        const int first_key = TileWalk<T>::number(tile) * Shape::tile_n;
        wait_copies<Architecture, 0>();
        barrier();  // K(j) is there for all, and all are done with V(j+1)
        const MaskBytes<T> bytes(sight, first_key);
        load_values(first_key);
        if constexpr (Shape::k_stages == 2) load_keys(next, step - 1);

        float s[Shape::m_tiles][T::n_tiles][4] = {};
        multiply_keys<T>(s, key(step), key_rest(step), *this);
        if constexpr (Shape::k_stages == 1) {
            barrier();
            load_keys(next, step - 1);
        }
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
            if (T::masked || masked) mask_scores<T>(s[m], sight, bytes, first_key, m * 16, walk.words(tile, step));
            update_softmax<T>(s[m], out[m], rows[m], factor);
            if constexpr (T::dropout) {
                const int first_row = source_.first_query + warp_row() + m * 16;
                drop_weights<T>(s[m], source_.dropout, first_row, first_key);
            }
        }
        uint32_t p[Shape::m_tiles][T::n_tiles / 2][4];
        pack_weights<T>(p, s);
        wait_copies<Architecture, 1>();
        barrier();  // V(j) is there for all
        if constexpr (T::half_sums) {
            multiply_values_by_tile<T>(out, p, values());
        } else {
            multiply_values<T>(out, p, values());
        }
    }

    Source source_;
    uint32_t shared_;
    TileCopy<Architecture, Shape::tile_n, T::head_dim, Shape::threads, Element> key_copy_;
    TileCopy<Architecture, Shape::tile_n, T::slice_dim, Shape::threads, Value> value_copy_;
    uint32_t queries_[Shape::m_tiles][T::k_steps > 0 ? T::k_steps : 1][4];
    uint32_t query_rest_[Shape::m_tiles][2];
};

}  // namespace mezzotint
