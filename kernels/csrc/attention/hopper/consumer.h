// A group of four warps that multiplies: 64 queries against all keys that they see, from the last tile to the first.
//
// Products run while the group does something else: the scores of a tile are begun together with the outputs of the tile
// before it, whose softmax is over, and the tile's own softmax passes while those outputs are multiplied. The groups take
// turns in beginning, so that one group's softmax passes during the products of another (arXiv 2407.08608).
//
//     turn: begin S(j) = Q K(j)', O += P(j+1) V(j+1) | wait for S(j) | softmax(j) | wait for O | P(j), scale O
#pragma once

#include "../kernel.h"
#include "products.h"
#include "ring.h"

namespace mezzotint {

// Barriers 1, 2, ... are the groups' turns: a group waits at its own, and gives the next one the next.
template <class T>
class Turns {
public:
    MZT_DEVICE explicit Turns(int group) : group_(group) {}
    MZT_DEVICE void open() const {
        if (group_ == T::Shape::groups - 1) pass();
    }
    MZT_DEVICE void wait() const { wait_turn(1 + group_, 2 * kGroupThreads); }
    MZT_DEVICE void pass() const { give_turn(1 + (group_ + 1) % T::Shape::groups, 2 * kGroupThreads); }
    MZT_DEVICE void close() const {
        if (group_ == 0) wait();
    }

private:
    int group_;
};

template <class T>
class Consumer {
public:
    float out[T::out_tiles][4];
    RowState rows[1];

    MZT_DEVICE Consumer(uint32_t shared, int group) : group_(group), rings_(shared), turns_(group) { turns_.open(); }
    MZT_DEVICE void finish() const { turns_.close(); }

    MZT_DEVICE void attend(const KeyRange& range, const Sight& sight, float factor) {
        start();
        if (range.tiles == 0) return;
        float s[T::n_tiles][4];
        uint32_t p[T::n_tiles / 2][4];
        rings_.queries.wait_full();
        rings_.keys.wait_full();
        begin_products();
        begin_scores<T>(s, queries(), rings_.keys.tile());
        commit_products();
        take_scores<0>(s);
        if (range.masked_tiles > 0) hide(s, sight, (range.tiles - 1) * T::Shape::tile_n);
        float kept[2];
        raise(kept, s, factor);
        take_weights<T>(s, rows[0], factor);
        pack_weights<T>(p, s);
        rings_.values.wait_full();
        for (int step = 1; step < range.tiles; ++step) {
            rings_.keys.wait_full();
            turns_.wait();
            begin_products();
            begin_scores<T>(s, queries(), rings_.keys.tile());
            commit_products();
            begin_products();
            begin_outputs<T>(out, p, rings_.values.tile());
            commit_products();
            turns_.pass();
            take_scores<1>(s);
            if (step < range.masked_tiles) hide(s, sight, (range.tiles - 1 - step) * T::Shape::tile_n);
            const bool far = raise(kept, s, factor);
            take_weights<T>(s, rows[0], factor);
            hold(s);  // now, and not when the outputs are there
            rings_.values.wait_next_full();
            take_outputs();
            if (far) scale_outputs(kept);
            pack_weights<T>(p, s);
        }
        rings_.queries.release();
        begin_products();
        begin_outputs<T>(out, p, rings_.values.tile());
        commit_products();
        take_outputs();
    }

private:
    MZT_DEVICE uint32_t queries() const { return rings_.queries.tile() + group_ * 64 * T::row_bytes; }

    MZT_DEVICE void start() {
        rows[0] = RowState{};
#pragma unroll
        for (int n = 0; n < T::out_tiles; ++n) {
#pragma unroll
            for (int each = 0; each < 4; ++each) out[n][each] = 0;
        }
    }

    template <int pending>
    MZT_DEVICE void take_scores(float (&s)[T::n_tiles][4]) {
        wait_products<pending>();
        hold(s);
        rings_.keys.release();
    }
    MZT_DEVICE void take_outputs() {
        wait_products<0>();
        hold(out);
        rings_.values.release();
    }

    MZT_DEVICE void hide(float (&s)[T::n_tiles][4], const Sight& sight, int first_key) const {
        const int thread = thread_index_anew() - kGroupThreads;
        const int first_row = first_row_of<T>(sight.first_query, thread);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int edge = first_row + half * 8 + sight.causal_shift + 1;
            const int keys = (edge < sight.key_limit ? edge : sight.key_limit) - first_key;
            hide_from<T>(s, half, keys - thread % 4 * 2);
        }
    }

    // Where one of the warp's scores is far above its row's m (softmax.h), rows take their largest ones as m. Returns
    // whether it was so; the outputs, which are still being multiplied, are then to be scaled by `kept`.
    MZT_DEVICE bool raise(float (&kept)[2], const float (&s)[T::n_tiles][4], float factor) {
        RowState& state = rows[0];
        const float most[2] = {own_maximum<T>(s, 0), own_maximum<T>(s, 1)};
        const bool far =
            fmaf(most[0], factor, -state.m[0]) > kMostBehind || fmaf(most[1], factor, -state.m[1]) > kMostBehind;
        if (!ballot(far)) return false;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float m = fmaxf(state.m[half], row_maximum(most[half]) * factor);
            kept[half] = exp2_approximate(state.m[half] - m);
            state.m[half] = m;
            state.l[half] *= kept[half];
        }
        return true;
    }
    MZT_DEVICE void scale_outputs(const float (&kept)[2]) {
#pragma unroll
        for (int n = 0; n < T::out_tiles; ++n) {
#pragma unroll
            for (int each = 0; each < 4; ++each) out[n][each] *= kept[each / 2];
        }
    }

    int group_;
    Rings<T> rings_;
    Turns<T> turns_;
};

}  // namespace mezzotint
