// The main loop with scores from 8-bit products and values summed in two levels.
//
// It is the loop of ../mainloop.h but for its two products. Scores are exact integers times two scales that a thread
// holds. Weights times values are summed in 16 bits over the 64 keys of a tile, then in 32 bits over the tiles: cards
// that halve the rate of products with 32-bit sums do not halve that of these.
#pragma once

#include "../mask.h"
#include "../products.h"
#include "../shared_tile.h"
#include "../softmax.h"
#include "../tile_walk.h"
#include "../traits.h"
#include "operands.h"

namespace mezzotint {

template <class Architecture_, typename Element_, int head_dim_, class Shape_, bool masked_>
struct Int8Traits {
    using Architecture = Architecture_;
    using Element = Element_;  // of the output; values are float16
    using Weight = float16;
    using Shape = Shape_;
    static constexpr int head_dim = head_dim_;
    static constexpr int slice_dim = head_dim_;
    static constexpr bool masked = masked_;
    static constexpr int padded_dim = (head_dim + 31) / 32 * 32;

    static constexpr int k_steps = padded_dim / 32;
    static constexpr int n_tiles = Shape::tile_n / 8;
    static constexpr int out_tiles = head_dim / 8;

    static constexpr int q_bytes = Shape::tile_m * padded_dim;
    static constexpr int k_bytes = Shape::tile_n * padded_dim;
    static constexpr int v_begin = Shape::k_stages * k_bytes;
    static constexpr int kv_bytes = v_begin + Shape::tile_n * head_dim * 2;
    static constexpr int shared_bytes = q_bytes > kv_bytes ? q_bytes : kv_bytes;

    static_assert(Shape::q_in_registers && Shape::k_stages == 2, "queries move to registers");
};

template <class T>
class Int8Mainloop {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;

public:
    float out[Shape::m_tiles][T::out_tiles][4] = {};
    RowState rows[Shape::m_tiles];

    MZT_DEVICE Int8Mainloop(const Int8Source& source, uint32_t shared)
        : source_(source), shared_(shared), operands_(source, shared) {}

    MZT_DEVICE void run(const TileWalk<T>& walk, int masked_steps, const Sight& sight, float factor) {
        operands_.load_queries();
        if (walk.steps == 0) return;
        const int last = walk.steps - 1;
        int tile = walk.at(last), next = walk.at(last - 1);
        operands_.load_keys(TileWalk<T>::number(tile), 0);
        commit_copies<Architecture>();
        if constexpr (kFollowsTables<T>) {
            for (int step = last, stage = 0; step >= 0; --step, stage = 1 - stage) {
                const int after = walk.at(step - 2);
                take(walk, step, stage, tile, next, true, sight, factor);
                tile = next;
                next = after;
            }
        } else {
            for (int each = last, stage = 0; each >= 0; --each, stage = 1 - stage) {
                take(walk, each, stage, each, each - 1, each >= walk.steps - masked_steps, sight, factor);
            }
        }
    }

private:
    MZT_DEVICE uint32_t values() const { return shared_ + T::v_begin; }

    MZT_DEVICE void load_values(int first_key) {
        copy_tile<Architecture, Shape::tile_n, T::head_dim, Shape::threads>(
            values(), static_cast<const uint16_t*>(source_.v), T::head_dim, first_key, source_.k_rows);
        commit_copies<Architecture>();
    }

    MZT_DEVICE void take(const TileWalk<T>& walk, int step, int stage, int tile, int next, bool masked,
                         const Sight& sight, float factor) {
        const int first_key = TileWalk<T>::number(tile) * Shape::tile_n;
        wait_copies<Architecture, 0>();
        barrier();  // K(j) is there for all, and all are done with V(j+1)
        const MaskBytes<T> bytes(sight, first_key);
        load_values(first_key);
        if (step > 0) operands_.load_keys(TileWalk<T>::number(next), 1 - stage);
        commit_copies<Architecture>();
        const float k_scale = operands_.k_scale(TileWalk<T>::number(tile));

        float s[Shape::m_tiles][T::n_tiles][4];
        multiply_keys(s, stage, k_scale);
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
            if (T::masked || masked) mask_scores<T>(s[m], sight, bytes, first_key, m * 16, walk.words(tile, step));
            update_softmax<T>(s[m], out[m], rows[m], factor);
        }
        uint32_t p[Shape::m_tiles][T::n_tiles / 2][4];
        pack_weights<T>(p, s);
        wait_copies<Architecture, 1>();
        barrier();  // V(j) is there for all
        multiply_values_by_tile<T>(out, p, values());
    }

    // s = q k^T, 16 keys at a time, so that few sums are integers at once.
    MZT_DEVICE void multiply_keys(float (&s)[Shape::m_tiles][T::n_tiles][4], int stage, float k_scale) {
        const uint32_t first = operands_.first_key(stage);
#pragma unroll
        for (int n = 0; n < T::n_tiles; n += 2) {
            int32_t sums[Shape::m_tiles][2][4] = {};
            operands_.multiply(sums, first, n);
#pragma unroll
            for (int m = 0; m < Shape::m_tiles; ++m) {
                const float scale = operands_.q_scale(m) * k_scale;
#pragma unroll
                for (int each = 0; each < 4; ++each) {
                    s[m][n][each] = static_cast<float>(sums[m][0][each]) * scale;
                    s[m][n + 1][each] = static_cast<float>(sums[m][1][each]) * scale;
                }
            }
        }
    }

    Int8Source source_;
    uint32_t shared_;
    Int8Operands<T> operands_;
};

}  // namespace mezzotint
