// The first pass: sums of phi(k) v' and of phi(k), of one split of the tokens, for 64 features and 64 columns of values.
//
// Tokens are the depth of the product, and both sides have them as rows in shared memory: matrix loads transpose both.
#pragma once

#include "../attention/shared_tile.h"
#include "features.h"

namespace mezzotint::linear_attention {

using TokenTile = SharedTile<kTile>;
constexpr int kTokenBytes = kTile * TokenTile::row_bytes;   // of a tile of keys, or of values
constexpr int kSeenBegin = 2 * kTokenBytes;
constexpr int kStageBytes = kSeenBegin + kTile * 2;
constexpr int kSummarizeBytes = 2 * kStageBytes;

// The sums of a block, and where they lie.
template <class Architecture, typename Element, int map>
class Summary {
public:
    MZT_DEVICE Summary(const LinearAttentionParams& params, char* shared)
        : params_(params), shared_(shared), address_(shared_address(shared)) {
        uint32_t rest = block_index();
        split_ = static_cast<int>(rest % params.splits);
        rest /= params.splits;
        first_column_ = static_cast<int>(rest % params.column_tiles) * kTile;
        rest /= params.column_tiles;
        first_feature_ = static_cast<int>(rest % params.feature_tiles) * kTile;
        place_ = static_cast<int>(rest / params.feature_tiles);
        const int batch = place_ / params.kv_heads, head = place_ % params.kv_heads;
        keys_ = static_cast<const Element*>(params.k) + batch * params.k_stride.batch + head * params.k_stride.head +
                first_feature_;
        values_ = static_cast<const Element*>(params.v) + batch * params.v_stride.batch + head * params.v_stride.head +
                  first_column_;
        mask_ = params.key_mask ? params.key_mask + batch * params.key_mask_stride : nullptr;
        limit_ = params.nk;
        if (params.key_lengths) {
            const int length = params.key_lengths[batch];
            limit_ = length < 0 ? 0 : length < limit_ ? length : limit_;
        }
    }

    // The next tile of tokens arrives while this one is multiplied.
    MZT_DEVICE void run() {
        const int tiles = (limit_ + kTile - 1) / kTile, first = split_ * params_.tiles_per_split;
        const int past = first + params_.tiles_per_split, end = past < tiles ? past : tiles;
        if (first < end) copy(first, 0);
        commit_copies<Architecture>();
        for (int tile = first; tile < end; ++tile) {
            const int stage = (tile - first) % 2;
            if (tile + 1 < end) copy(tile + 1, 1 - stage);
            commit_copies<Architecture>();
            wait_copies<Architecture, 1>();
            barrier();
            if (first_row() < params_.features) multiply_stage(stage);
            barrier();
        }
        write();
    }

private:
    MZT_DEVICE static int lane() { return thread_index() % 32; }
    MZT_DEVICE static int warp() { return thread_index() / 32; }
    // Of this warp's 16 features.
    MZT_DEVICE int first_row() const { return first_feature_ + warp() * 16; }

    // Keys and values of a tile of tokens; zeros where there is none that is seen, or no such column.
    MZT_DEVICE void copy(int tile, int stage) const {
        constexpr int across = TokenTile::chunks, down = kKeyThreads / across;
        const int chunk = thread_index() % across, column = chunk * kEight;
        const bool of_keys = first_feature_ + column < params_.features;
        const bool of_values = first_column_ + column < params_.head_dim;
        const uint32_t begin = address_ + stage * kStageBytes;
        uint16_t* seen = reinterpret_cast<uint16_t*>(shared_ + stage * kStageBytes + kSeenBegin);
#pragma unroll
        for (int row = thread_index() / across; row < kTile; row += down) {
            const int token = tile * kTile + row;
            const bool is_seen = token < limit_ && (!mask_ || mask_[token]);
            const uint32_t at = TokenTile::first(begin, row, chunk);
            copy16<Architecture>(at, keys_ + token * params_.k_stride.token + column, is_seen && of_keys);
            copy16<Architecture>(at + kTokenBytes, values_ + token * params_.v_stride.token + column,
                                 is_seen && of_values);
            if (chunk == 0) seen[row] = static_cast<uint16_t>(pack<Element>(is_seen ? 1.0f : 0.0f, 0.0f));
        }
    }

    MZT_DEVICE void multiply_stage(int stage) {
        const uint32_t begin = address_ + stage * kStageBytes;
        const uint32_t keys = TokenTile::first(begin, lane() % 8 + lane() / 16 * 8, warp() * 2 + lane() / 8 % 2);
        const uint32_t values = TokenTile::first(begin + kTokenBytes, lane() % 16, lane() / 16);
        const uint16_t* seen = reinterpret_cast<const uint16_t*>(shared_ + stage * kStageBytes + kSeenBegin);
        const int columns = params_.head_dim - first_column_;
#pragma unroll
        for (int k = 0; k < kTile; k += 16) {
            uint32_t a[4];
            load_matrices_transposed(a, TokenTile::at(keys, k, 0));
            map_features<Element, map>(a);
#pragma unroll
            for (int n = 0; n < kTile / kEight; n += 2) {
                if (n * kEight >= columns) break;
                uint32_t b[4];
                load_matrices_transposed(b, TokenTile::at(values, k, n));
                multiply<Architecture, Element>(sums_[n], a, b[0], b[1]);
                multiply<Architecture, Element>(sums_[n + 1], a, b[2], b[3]);
            }
            if (first_column_ == 0) add_features(a, seen + k);
        }
    }

    // z: a column of ones, or of zeros where a token is not seen, as the first of eight.
    MZT_DEVICE void add_features(const uint32_t (&a)[4], const uint16_t* seen) {
        uint32_t b[2] = {0, 0};
        if (lane() < 4) {
            b[0] = *reinterpret_cast<const uint32_t*>(seen + lane() * 2);
            b[1] = *reinterpret_cast<const uint32_t*>(seen + lane() * 2 + 8);
        }
        multiply<Architecture, Element>(feature_sums_, a, b[0], b[1]);
    }

    MZT_DEVICE void write() const {
        const int row = first_row() + lane() / 4;
        float* to = params_.sums + split_ * params_.sum_size +
                    (static_cast<int64_t>(place_) * params_.features + row) * params_.width + lane() % 4 * 2;
#pragma unroll
        for (int n = 0; n < kTile / kEight; ++n) {
            if (first_column_ + n * kEight < params_.head_dim) write_eight(to + first_column_ + n * kEight, sums_[n], row);
        }
        if (first_column_ == 0) write_eight(to + params_.head_dim, feature_sums_, row);
    }

    MZT_DEVICE void write_eight(float* to, const float (&sums)[4], int row) const {
        if (row < params_.features) {
            to[0] = sums[0];
            to[1] = sums[1];
        }
        if (row + 8 < params_.features) {
            to[8 * params_.width] = sums[2];
            to[8 * params_.width + 1] = sums[3];
        }
    }

    const LinearAttentionParams& params_;
    char* shared_;
    uint32_t address_;
    int split_, first_column_, first_feature_, place_, limit_;
    const Element *keys_, *values_;
    const uint8_t* mask_;
    float sums_[kTile / kEight][4] = {};
    float feature_sums_[4] = {};
};

}  // namespace mezzotint::linear_attention
