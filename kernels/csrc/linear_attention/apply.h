// The third pass: phi(q) times both parts of the summary, and divided, for 128 queries and 64 columns of values.
#pragma once

#include "../attention/shared_tile.h"
#include "features.h"

namespace mezzotint::linear_attention {

using QueryTile = SharedTile<kTile>;
using SummaryTile = SharedTile<kTile + kEight>;  // the last eight columns are z's
constexpr int kPartBytes = kTile * SummaryTile::row_bytes;
constexpr int kHighBegin = kQueryTile * QueryTile::row_bytes;
constexpr int kApplyBytes = kHighBegin + 2 * kPartBytes;

// The output of a block.
template <class Architecture, typename Element, int map>
class Output {
public:
    MZT_DEVICE Output(const LinearAttentionParams& params, char* shared)
        : params_(params), address_(shared_address(shared)) {
        uint32_t rest = block_index();
        first_query_ = static_cast<int>(rest % params.query_tiles) * kQueryTile;
        rest /= params.query_tiles;
        first_column_ = static_cast<int>(rest % params.column_tiles) * kTile;
        rest /= params.column_tiles;
        head_ = static_cast<int>(rest % params.heads);
        batch_ = static_cast<int>(rest / params.heads);
        place_ = batch_ * params.kv_heads + head_ / params.group;
    }

    MZT_DEVICE void run() {
        for (int feature = 0; feature < params_.features; feature += kTile) {
            copy_queries(feature);
            copy_part(kHighBegin, static_cast<const Element*>(params_.high), feature);
            copy_part(kHighBegin + kPartBytes, static_cast<const Element*>(params_.low), feature);
            commit_copies<Architecture>();
            wait_copies<Architecture, 0>();
            barrier();
            multiply_tile();
            barrier();
        }
        write();
    }

private:
    MZT_DEVICE static int lane() { return thread_index() % 32; }
    MZT_DEVICE static int warp() { return thread_index() / 32; }

    MZT_DEVICE void copy_queries(int feature) const {
        constexpr int across = QueryTile::chunks, down = kQueryThreads / across;
        const int chunk = thread_index() % across, column = feature + chunk * kEight;
        const Element* from = static_cast<const Element*>(params_.q) + batch_ * params_.q_stride.batch +
                              head_ * params_.q_stride.head + column;
#pragma unroll
        for (int row = thread_index() / across; row < kQueryTile; row += down) {
            const int query = first_query_ + row;
            copy16<Architecture>(QueryTile::first(address_, row, chunk), from + query * params_.q_stride.token,
                                 query < params_.nq && column < params_.features);
        }
    }

    // Zeros beyond the features, whatever the map makes of the zeros that queries have there.
    MZT_DEVICE void copy_part(int to, const Element* part, int feature) const {
        constexpr int across = SummaryTile::chunks;
        for (int item = thread_index(); item < kTile * across; item += kQueryThreads) {
            const int row = item / across, chunk = item % across;
            const bool of_features = chunk == across - 1;
            const int column = of_features ? params_.head_dim : first_column_ + chunk * kEight;
            const bool wanted = feature + row < params_.features && (of_features || column < params_.head_dim);
            const int64_t at = (static_cast<int64_t>(place_) * params_.features + feature + row) * params_.width;
            copy16<Architecture>(SummaryTile::first(address_ + to, row, chunk), part + at + column, wanted);
        }
    }

    MZT_DEVICE void multiply_tile() {
        const uint32_t queries = QueryTile::first(address_, warp() * 16 + lane() % 16, lane() / 16);
        const uint32_t first = SummaryTile::first(address_ + kHighBegin, lane() % 16, lane() / 16);
        const uint32_t last = SummaryTile::first(address_ + kHighBegin, lane() % 16, 0);
        const int columns = params_.head_dim - first_column_;
#pragma unroll
        for (int k = 0; k < kTile; k += 16) {
            uint32_t a[4];
            load_matrices(a, QueryTile::at(queries, 0, k / kEight));
            map_features<Element, map>(a);
#pragma unroll
            for (int part = 0; part < 2; ++part) {
                const int below = part * kTile + k;
#pragma unroll
                for (int n = 0; n < kTile / kEight; n += 2) {
                    if (n * kEight >= columns) break;
                    uint32_t b[4];
                    load_matrices_transposed(b, SummaryTile::at(first, below, n));
                    multiply<Architecture, Element>(sums_[n], a, b[0], b[1]);
                    multiply<Architecture, Element>(sums_[n + 1], a, b[2], b[3]);
                }
                uint32_t b[2];
                load_matrices_transposed(b, SummaryTile::at(last, below, kTile / kEight));
                multiply<Architecture, Element>(totals_, a, b[0], b[1]);
            }
        }
    }

    // The inverse of what a row is divided by; its total is in one of four lanes, beside zeros.
    MZT_DEVICE float inverse_of(float total) const {
        total += shuffle_xor(total, 1);
        total += shuffle_xor(total, 2);
        total *= scales()[params_.width / kEight - 1];
        const float divisor = (total < params_.least ? params_.least : total) + params_.epsilon;
        return !params_.divided || divisor == 0 ? 1 : 1 / divisor;
    }

    MZT_DEVICE const float* scales() const {
        return params_.scales + static_cast<int64_t>(place_) * (params_.width / kEight);
    }

    MZT_DEVICE void write() const {
        const float inverse = inverse_of(totals_[0]), inverse_below = inverse_of(totals_[2]);
        const int query = first_query_ + warp() * 16 + lane() / 4;
        Element* to = static_cast<Element*>(params_.out) + batch_ * params_.out_stride.batch +
                      head_ * params_.out_stride.head + query * params_.out_stride.token + lane() % 4 * 2;
#pragma unroll
        for (int n = 0; n < kTile / kEight; ++n) {
            const int column = first_column_ + n * kEight;
            if (column >= params_.head_dim) break;
            const float scale = scales()[column / kEight];
            write_pair(to + column, query, sums_[n][0] * scale, sums_[n][1] * scale, inverse);
            write_pair(to + column + 8 * params_.out_stride.token, query + 8, sums_[n][2] * scale, sums_[n][3] * scale,
                       inverse_below);
        }
    }

    MZT_DEVICE void write_pair(Element* to, int query, float left, float right, float inverse) const {
        if (query < params_.nq) *reinterpret_cast<uint32_t*>(to) = pack<Element>(left * inverse, right * inverse);
    }

    const LinearAttentionParams& params_;
    uint32_t address_;
    int first_query_, first_column_, head_, batch_, place_;
    float sums_[kTile / kEight][4] = {};
    float totals_[4] = {};
};

}  // namespace mezzotint::linear_attention
