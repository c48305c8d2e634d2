// The main loop in which both products are of 8-bit integers, or that of weights and values of 8-bit floats.
//
// Its sums of a tile are exact, and below 2^22: begun at the bits of a large float, they are that float plus the sum,
// and a subtraction takes the place of a conversion, of which cards do few. Values are transposed in the workspace, a
// row for each channel, with keys in the order in which a thread holds their weights: none of these is moved.
#pragma once

#include "../mask.h"
#include "../tile_walk.h"
#include "all_softmax.h"
#include "all_traits.h"
#include "fp8_values.h"
#include "operands.h"

namespace mezzotint {

template <class T>
class Int8AllMainloop {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;
    using ValueTile = SharedTile<kKeyRows / 2>;  // a channel's keys, two by two

public:
    float out[Shape::m_tiles][T::out_tiles][4] = {};
    RowState rows[Shape::m_tiles];  // maxima times the factor; sums in 255ths

    MZT_DEVICE Int8AllMainloop(const Int8Source& source, uint32_t shared)
        : source_(source), shared_(shared), operands_(source, shared) {}

    MZT_DEVICE void run(int tiles, int masked_tiles, const Sight& sight, float factor) {
        operands_.load_queries();
        if (tiles == 0) return;
        operands_.load_keys(tiles - 1, 0);
        commit_copies<Architecture>();
        for (int tile = tiles - 1, stage = 0; tile >= 0; --tile, stage = 1 - stage) {
            take(tile, stage, tile >= tiles - masked_tiles, sight, factor);
        }
    }

private:
    MZT_DEVICE static int lane() { return thread_index() % 32; }

    MZT_DEVICE uint32_t values() const { return shared_ + T::v_begin; }

    MZT_DEVICE void load_values(int tile) {
        copy_tile<Architecture, T::head_dim, kKeyRows / 2, Shape::threads>(
            values(), static_cast<const uint16_t*>(source_.v), kKeyRows / 2, tile * T::head_dim,
            source_.k_rows / kKeyRows * T::head_dim);
        commit_copies<Architecture>();
    }

    MZT_DEVICE void take(int tile, int stage, bool masked, const Sight& sight, float factor) {
        const int first_key = tile * Shape::tile_n;
        wait_copies<Architecture, 0>();
        barrier();  // K(j) is there for all, and all are done with V(j+1)
        load_values(tile);
        if (tile > 0) operands_.load_keys(tile - 1, 1 - stage);
        commit_copies<Architecture>();
        const float by = operands_.k_scale(tile) * factor;

        float s[Shape::m_tiles][T::n_tiles][4];
        multiply_keys(s, stage);
        uint32_t p[Shape::m_tiles][T::value_steps][4];
        TileRow of_tile[Shape::m_tiles];
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
            if (masked) mask_scores<T>(s[m], sight, MaskBytes<T>(sight, first_key), first_key, m * 16, nullptr);
            typename T::WeightSum sums[2];
            weigh<T>(p[m], of_tile[m], sums, s[m], fmaxf(operands_.q_scale(m) * by, kLeastStep));
            catch_up<T>(out[m], rows[m], of_tile[m]);
            add_sums(rows[m], of_tile[m], sums);
        }
        wait_copies<Architecture, 1>();
        barrier();  // V(j) is there for all
        multiply_values(p, of_tile);
    }

    // s = q k^T in steps of both scales, 16 keys at a time, so that few sums are integers at once.
    MZT_DEVICE void multiply_keys(float (&s)[Shape::m_tiles][T::n_tiles][4], int stage) {
        const uint32_t first = operands_.first_key(stage);
#pragma unroll
        for (int n = 0; n < T::n_tiles; n += 2) {
            int32_t sums[Shape::m_tiles][2][4];
#pragma unroll
            for (int each = 0; each < Shape::m_tiles * 8; ++each) sums[each / 8][each / 4 % 2][each % 4] = kIntegerBits;
            operands_.multiply(sums, first, n);
#pragma unroll
            for (int each = 0; each < Shape::m_tiles * 8; ++each) {
                s[each / 8][n + each / 4 % 2][each % 4] = summed(sums[each / 8][each / 4 % 2][each % 4]);
            }
        }
    }

    // out += p v, 8 columns at a time: all keys of the tile are read at once.
    MZT_DEVICE void multiply_values(const uint32_t (&p)[Shape::m_tiles][T::value_steps][4],
                                    const TileRow (&of_tile)[Shape::m_tiles]) {
        const uint32_t first = ValueTile::first(values(), lane() % 8, lane() / 8);
#pragma unroll
        for (int o = 0; o < T::out_tiles; ++o) {
            uint32_t b[4];
            load_matrices(b, ValueTile::at(first, o * 8, 0));
#pragma unroll
            for (int m = 0; m < Shape::m_tiles; ++m) {
                float sums[4];
                if constexpr (T::fp8_values) {
                    multiply_fp8_tile<T>(sums, p[m], b);
                } else {
                    multiply_byte_tile<T>(sums, p[m], b);
                }
#pragma unroll
                for (int each = 0; each < 4; ++each) {
                    out[m][o][each] = fmaf(sums[each], of_tile[m].share[each / 2], out[m][o][each]);
                }
            }
        }
    }

    static constexpr float kLeastStep = 1e-30f;  // of scores: hidden ones times it are -inf, and no NaN

    Int8Source source_;
    uint32_t shared_;
    Int8Operands<T> operands_;
};

}  // namespace mezzotint
