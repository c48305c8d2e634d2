// One block's work: a tile of keys against all queries that may see them, a tile at a time, for each head of its group;
// of a table, those of the blocks in its row.
//
// Scores are computed transposed, a row for a key: so the weights' fragments, packed, are the left operands of the
// products for dv and dk, and never move. Only for dq do the scores' gradients pass through shared memory.
//
//     wait for Q(j), dO(j), barrier | start Q(j+1), dO(j+1) | S' = K Q', P' = exp(S' - lse) | dP' = V dO'
//     dS' = P' (dP' - delta) | dV += P' dO | dS' to shared memory | dK += dS' Q | barrier | dQ(j) += dS K
#pragma once

#include <math.h>

#include "../dropout.h"
#include "../mask.h"
#include "../products.h"
#include "../tile_walk.h"
#include "accumulate.h"
#include "params.h"
#include "traits.h"

namespace mezzotint {
namespace backward_pass {

// Where a block is in the problem.
struct Place {
    int split, slice, kv_head, batch;
};

// A tile of queries of one of the group's heads, and the step at which the head takes it.
struct Cursor {
    int head, step, tile;
};

// What multiply_keys asks for: rows of the keys or values that this warp owns.
template <class T>
struct OwnRows {
    using Tile = SharedTile<T::head_dim>;
    uint32_t first, rest;

    MZT_DEVICE OwnRows(uint32_t begin, int warp_row, int lane)
        : first(Tile::first(begin, warp_row + lane % 16, lane / 16)),
          rest(Tile::first(begin, warp_row + lane % 16, 0)) {}
    MZT_DEVICE void queries(uint32_t (&to)[4], int m, int k) const {
        load_matrices(to, Tile::at(first, m * 16, 2 * k));
    }
    MZT_DEVICE void query_rest(uint32_t (&to)[2], int m) const {
        load_matrices(to, Tile::at(rest, m * 16, 2 * T::k_steps));
    }
};

template <class T>
class Mainloop {
    using Architecture = typename T::Architecture;
    using Element = typename T::Element;
    using Shape = typename T::Shape;
    using Tile = SharedTile<T::head_dim>;
    using ScoreTile = SharedTile<Shape::tile_n>;
    using Scores = float[Shape::m_tiles][T::n_tiles][4];
    using Packed = uint32_t[Shape::m_tiles][T::n_tiles / 2][4];

public:
    float dk[Shape::m_tiles][T::out_tiles][4] = {};
    float dv[Shape::m_tiles][T::out_tiles][4] = {};

    MZT_DEVICE Mainloop(const BackwardParams& params, const Place& place, char* shared)
        : params_(params), place_(place), shared_(shared), address_(shared_address(shared)) {}

    // Gather dk and dv of the keys from `first_key` on, of which those from `limit` on do not exist, and add to dq.
    MZT_DEVICE void run(int first_key, int limit) {
        if (first_key >= limit) return;
        first_key_ = first_key;
        Cursor now = from(0, 0);
        if (now.head >= params_.group) return;
        find_edges(limit);
        load_keys(limit);
        load_queries(now, 0);
        int stage = 0;
        while (now.head < params_.group) {
            const Cursor next = from(now.head, now.step + 1);
            step(now, next, stage);
            now = next;
            stage = (stage + 1) % Shape::stages;
        }
    }

private:
    MZT_DEVICE int lane() const { return thread_ % 32; }
    MZT_DEVICE int warp() const { return thread_ / 32; }
    MZT_DEVICE int warp_row() const { return warp() * Shape::rows_per_warp; }
    MZT_DEVICE uint32_t queries(int stage) const { return address_ + T::q_begin + stage * T::stage_bytes; }
    MZT_DEVICE uint32_t gradients(int stage) const { return queries(stage) + T::query_bytes; }
    MZT_DEVICE int head(const Cursor& at) const { return head(at.head); }
    MZT_DEVICE int head(int of_group) const { return anew(place_.kv_head) * params_.group + of_group; }
    MZT_DEVICE int64_t batch() const { return anew(place_.batch); }
    MZT_DEVICE static int first_query(const Cursor& at) { return TileWalk<T>::number(at.tile) * Shape::tile_n; }

    // The first tile of queries that sees a key of this block, of all of them.
    MZT_DEVICE int first_tile() const {
        const int first_seen = params_.causal ? anew(first_key_) - (params_.nk - params_.nq) : 0;
        return (first_seen > 0 ? first_seen : 0) / Shape::tile_n;
    }

    // The tiles of queries that see these keys, of one of the group's heads.
    MZT_DEVICE TileWalk<T> walk(int of_group) const {
        const int tiles = (params_.nq + Shape::tile_n - 1) / Shape::tile_n;
        return {params_.table, batch(), head(of_group), anew(first_key_), tiles};
    }

    // The first tile from that step of that head on; none if the head is beyond the group.
    MZT_DEVICE Cursor from(int of_group, int step) const {
        for (; of_group < params_.group; ++of_group, step = 0) {
            const TileWalk<T> tiles = walk(of_group);
            if (step == 0 && !params_.table.row_ptr) step = first_tile();
            if (step < tiles.steps) return {of_group, step, tiles.at(step)};
        }
        return {of_group, 0, 0};
    }

    // The first query that sees each key that this thread holds scores of: none sees a hidden one.
    MZT_DEVICE void find_edges(int limit) {
        const uint8_t* mask = params_.key_mask ? params_.key_mask + batch() * params_.key_mask_stride : nullptr;
        bool hidden = false;
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int key = first_key_ + warp_row() + m * 16 + half * 8 + lane() / 4;
                const bool shown = key < limit && (!mask || mask[key]);
                edge_[m][half] = !shown ? INT32_MAX : params_.causal ? key - (params_.nk - params_.nq) : 0;
                hidden |= !shown;
            }
        }
        hides_ = ballot(hidden) != 0;
    }

    MZT_DEVICE void load_keys(int limit) {
        const Element* k = static_cast<const Element*>(params_.k) + batch() * params_.k_stride.batch +
                           place_.kv_head * params_.k_stride.head;
        const Element* v = static_cast<const Element*>(params_.v) + batch() * params_.v_stride.batch +
                           place_.kv_head * params_.v_stride.head;
        barrier();  // all are done with the keys before
        copy_rows<Architecture, Shape::tile_m, T::head_dim, Shape::threads>(address_, k, params_.k_stride.token,
                                                                            first_key_, limit);
        copy_rows<Architecture, Shape::tile_m, T::head_dim, Shape::threads>(address_ + T::v_begin, v,
                                                                            params_.v_stride.token, first_key_, limit);
    }

    // Queries, gradients of their outputs, and their facts.
    MZT_DEVICE void load_queries(const Cursor& at, int stage) {
        if (at.head < params_.group) {
            const int first = first_query(at);
            const Element* q = static_cast<const Element*>(params_.q) + batch() * params_.q_stride.batch +
                               head(at) * params_.q_stride.head;
            const Element* gradient = static_cast<const Element*>(params_.out_gradient) +
                                      batch() * params_.out_gradient_stride.batch +
                                      head(at) * params_.out_gradient_stride.head;
            copy_rows<Architecture, Shape::tile_n, T::head_dim, Shape::threads>(
                queries(stage), q, params_.q_stride.token, first, params_.nq);
            copy_rows<Architecture, Shape::tile_n, T::head_dim, Shape::threads>(
                gradients(stage), gradient, params_.out_gradient_stride.token, first, params_.nq);
            const RowFacts* rows = params_.rows + (batch() * params_.heads + head(at)) * params_.padded_rows + first;
            for (int pair = thread_index(); pair < Shape::tile_n / 2; pair += Shape::threads) {
                const uint32_t to = address_ + T::rows_begin + stage * T::row_bytes + pair * 16;
                copy16<Architecture>(to, rows + pair * 2, true);
            }
        }
        commit_copies<Architecture>();
    }

    MZT_DEVICE void step(const Cursor& now, const Cursor& next, int stage) {
        thread_ = thread_index_anew();  // addresses are computed each time: registers hold the gradients
        wait_copies<Architecture, 0>();
        barrier();  // Q(j) and dO(j) are there for all, and all are done with dS(j-1)
        if constexpr (Shape::stages == 2) load_queries(next, 1 - stage);
        Packed packed;
        Scores s = {};
        multiply_own(s, 0, queries(stage));
        const int first = first_query(now);
        hide(s, first);
        if constexpr (kFollowsTables<T>) {
            if (now.tile & kPartial) hide_by_table(s, now, first);
        }
        make_weights(s, stage);
        if constexpr (T::dropout) {
            drop(s, now, first);
            pack_kept(packed, s);
        } else {
            pack_weights<T>(packed, s);
        }
        multiply_values<T>(dv, packed, part_of(gradients(stage)));
        Scores of_scores = {};
        multiply_own(of_scores, T::v_begin, gradients(stage));
        make_gradients(of_scores, s, stage);
        pack_weights<T>(packed, of_scores);
        store_scores(packed);
        multiply_values<T>(dk, packed, part_of(queries(stage)));
        barrier();  // dS(j) is there for all, and all are done with Q(j) and dO(j)
        if constexpr (Shape::stages == 1) load_queries(next, 0);
        add_query_gradients(now, first);
    }

    // s += the own rows of keys or values times a tile of queries or gradients.
    MZT_DEVICE void multiply_own(Scores& s, int own, uint32_t tile) const {
        const OwnRows<T> rows(address_ + own, warp_row(), lane());
        const uint32_t first = Tile::first(tile, lane() % 8 + lane() / 16 * 8, lane() / 8 % 2);
        multiply_keys<T>(s, first, Tile::first(tile, lane(), 0), rows);
    }

    // This block's columns of a tile.
    MZT_DEVICE uint32_t part_of(uint32_t tile) const { return tile + place_.slice * (T::part_dim * 2); }

    MZT_DEVICE void hide(Scores& s, int first) const {
        const int last_key = first_key_ + Shape::tile_m - 1;
        if (!hides_ && !(params_.causal && first < last_key - (params_.nk - params_.nq))) return;
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                const int edge = edge_[m][each / 2] - first - lane() % 4 * 2 - each % 2;
#pragma unroll
                for (int n = 0; n < T::n_tiles; ++n) {
                    if (n * 8 < edge) s[m][n][each] = -INFINITY;
                }
            }
        }
    }

    MZT_DEVICE void hide_by_table(Scores& s, const Cursor& at, int first) const {
        const uint64_t* words = walk(at.head).words(at.tile, at.step);
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = first_row_of<T>(m * 16, thread_) + half * 8;
#pragma unroll
                for (int word = 0; word < kKeyWords<T>; ++word) {
                    const uint32_t hidden = ~bits_of_row<T>(words, row, first, word);
                    if (hidden) hide_by_bits<T>(s[m], half, word, hidden >> lane() % 4 * 2);
                }
            }
        }
    }

    // The facts of the two queries of an eight that this thread has scores of.
    MZT_DEVICE Four facts(int stage, int n) const {
        return *reinterpret_cast<const Four*>(shared_ + T::rows_begin + stage * T::row_bytes +
                                              (n * 8 + lane() % 4 * 2) * 8);
    }

    MZT_DEVICE void make_weights(Scores& s, int stage) const {
#pragma unroll
        for (int n = 0; n < T::n_tiles; ++n) {
            const Four of = facts(stage, n);
#pragma unroll
            for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
                for (int each = 0; each < 4; ++each) {
                    s[m][n][each] = exp2_approximate(fmaf(s[m][n][each], params_.factor, -of.at[each % 2 * 2]));
                }
            }
        }
    }

    // Dropped weights become negative: their values get nothing, and their scores' gradients only delta.
    MZT_DEVICE void drop(Scores& s, const Cursor& at, int first) const {
        const HeadDropout dropout(params_.dropout, batch() * params_.heads + head(at));
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
            mark_dropped<T>(s[m], dropout, first, first_key_ + warp_row() + m * 16, lane());
        }
    }

    MZT_DEVICE static void pack_kept(Packed& packed, const Scores& s) {
        Scores kept;
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
            for (int n = 0; n < T::n_tiles; ++n) {
#pragma unroll
                for (int each = 0; each < 4; ++each) kept[m][n][each] = fmaxf(s[m][n][each], 0);
            }
        }
        pack_weights<T>(packed, kept);
    }

    MZT_DEVICE void make_gradients(Scores& of_scores, const Scores& weights, int stage) const {
        [[maybe_unused]] const float inverse = T::dropout ? 256.0f / static_cast<float>(params_.dropout.kept) : 1;
#pragma unroll
        for (int n = 0; n < T::n_tiles; ++n) {
            const Four of = facts(stage, n);
#pragma unroll
            for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
                for (int each = 0; each < 4; ++each) {
                    float weight = weights[m][n][each], gradient = of_scores[m][n][each];
                    if constexpr (T::dropout) {
                        gradient = bits_of(weight) >> 31 ? 0 : gradient * inverse;
                        weight = fabsf(weight);
                    }
                    of_scores[m][n][each] = weight * (gradient - of.at[each % 2 * 2 + 1]);
                }
            }
        }
    }

    // A row for each key, two queries at a time.
    MZT_DEVICE void store_scores(const Packed& packed) const {
        const uint32_t first = ScoreTile::first(T::score_begin, warp_row() + lane() / 4, 0);
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
            for (int n = 0; n < T::n_tiles; ++n) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    char* to = shared_ + ScoreTile::at(first, m * 16 + half * 8, n) + lane() % 4 * 4;
                    *reinterpret_cast<uint32_t*>(to) = packed[m][n / 2][n % 2 * 2 + half];
                }
            }
        }
    }

    // The sums of dq, of 16 queries and a run of columns by each warp.
    MZT_DEVICE void add_query_gradients(const Cursor& at, int first) const {
#pragma unroll
        for (int round = 0; round < T::rounds; ++round) {
            const int group = warp() % T::query_groups + round * Shape::warps;
            uint32_t scores[T::key_steps][4];
            const uint32_t from =
                ScoreTile::first(address_ + T::score_begin, lane() / 16 * 8 + lane() % 8, lane() / 8 % 2 + 2 * group);
#pragma unroll
            for (int k = 0; k < T::key_steps; ++k) load_matrices_transposed(scores[k], ScoreTile::at(from, k * 16, 0));
            const int row = first + group * 16 + lane() / 4;
            float* to = params_.sums + (params_.ordered ? place_.split * params_.sum_size : 0) +
                        ((batch() * params_.heads + head(at)) * params_.nq + row) * params_.head_dim +
                        place_.slice * T::part_dim;
            add_run(scores, to, row);
        }
    }

    MZT_DEVICE void add_run(const uint32_t (&scores)[T::key_steps][4], float* to, int row) const {
        constexpr int run = T::run_tiles, swizzled = Tile::swizzled;
        const int begin = warp() / T::query_groups % T::column_groups * run;
        if (begin >= T::out_tiles) return;
        const uint32_t keys = (Tile::first(part_of(address_), lane() % 16, lane() / 16) ^ (begin % swizzled * 16)) +
                              begin / swizzled * swizzled * 16;
#pragma unroll 1
        for (int o = 0; o < run; o += 2) {
            if (begin + o >= T::out_tiles) break;
            float sums[2][4] = {};
#pragma unroll
            for (int k = 0; k < T::key_steps; ++k) {
                uint32_t b[4];
                load_matrices_transposed(b, Tile::at(keys, k * 16, o));
                multiply<Architecture, Element>(sums[0], scores[k], b[0], b[1]);
                multiply<Architecture, Element>(sums[1], scores[k], b[2], b[3]);
            }
            float* columns = to + (begin + o) * 8 + lane() % 4 * 2;
            add_rows(columns, sums[0], row);
            if (T::out_tiles % 2 == 0 || begin + o + 1 < T::out_tiles) add_rows(columns + 8, sums[1], row);
        }
    }

    MZT_DEVICE void add_rows(float* to, const float (&sums)[4], int row) const {
        if (row < params_.nq) add_pair(to, sums[0], sums[1]);
        if (row + 8 < params_.nq) add_pair(to + 8 * params_.head_dim, sums[2], sums[3]);
    }

    const BackwardParams& params_;
    Place place_;
    char* shared_;
    uint32_t address_;
    int thread_ = thread_index();
    int first_key_ = 0;
    int edge_[Shape::m_tiles][2];
    bool hides_ = false;
};

}  // namespace backward_pass
}  // namespace mezzotint
