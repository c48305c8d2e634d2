// Few keys, as of a text: all of them and their values stay in shared memory, and queries stream by.
//
// One look at all scores of a row is enough for its softmax: no running maximum, nothing to scale again. While a tile of
// queries is worked on, the next one arrives; one barrier a tile.
#pragma once

#include "kernel.h"
#include "products.h"

namespace mezzotint {

// `tile_n` is the most keys; queries are double-buffered, and read from shared memory where they are multiplied.
template <class Architecture_, typename Element_, int head_dim_, int warps_, int tile_n_>
struct ShortTraits {
    using Architecture = Architecture_;
    using Element = Element_;
    using Weight = Element_;
    using Shape = mezzotint::Shape<1, warps_, tile_n_, 1, false>;
    static constexpr int head_dim = head_dim_;
    static constexpr int slice_dim = head_dim_;
    static constexpr bool masked = false;
    static constexpr int k_steps = head_dim / 16;
    static constexpr bool k_rest = head_dim % 16 != 0;
    static constexpr int n_tiles = tile_n_ / 8;
    static constexpr int out_tiles = head_dim / 8;
    static constexpr int kv_bytes = tile_n_ * head_dim * 2;  // of the keys, and of the values
    static constexpr int q_bytes = Shape::tile_m * head_dim * 2;
    static constexpr int q_begin = 2 * kv_bytes;
    static constexpr int shared_bytes = q_begin + 2 * q_bytes;
    static_assert(tile_n_ % (k_rest ? 32 : 16) == 0, "keys are loaded 16 at a time, their last 8 columns 32");
};

template <class T>
class ShortLoop {
    using Architecture = typename T::Architecture;
    using Element = typename T::Element;
    using Shape = typename T::Shape;
    using Tile = SharedTile<T::head_dim>;

public:
    struct Source {
        const Element *q, *k, *v;
        int64_t q_row, k_row, v_row;
        int nq, key_limit;
    };

    float out[1][T::out_tiles][4];
    RowState rows[1];

    MZT_DEVICE ShortLoop(const Source& source, uint32_t shared) : source_(source), shared_(shared) {}

    MZT_DEVICE void load_keys_and_values() {
        copy_tile<Architecture, Shape::tile_n, T::head_dim, Shape::threads>(shared_, source_.k, source_.k_row, 0,
                                                                            source_.key_limit);
        copy_tile<Architecture, Shape::tile_n, T::head_dim, Shape::threads>(shared_ + T::kv_bytes, source_.v,
                                                                            source_.v_row, 0, source_.key_limit);
    }

    // Into one of the two places for queries.
    MZT_DEVICE void load_queries(int first_query, int place) {
        copy_tile<Architecture, Shape::tile_m, T::head_dim, Shape::threads>(queries_at(place), source_.q, source_.q_row,
                                                                            first_query, source_.nq);
    }

    // Attention of the queries that were loaded there.
    MZT_DEVICE void work(int place, bool masked, const Sight& sight, float factor) {
        place_ = place;
#pragma unroll
        for (int o = 0; o < T::out_tiles; ++o) {
#pragma unroll
            for (int each = 0; each < 4; ++each) out[0][o][each] = 0;
        }
        const int lane = thread_index() % 32;
        float s[1][T::n_tiles][4] = {};
        multiply_keys<T>(s, Tile::first(shared_, lane % 8 + lane / 16 * 8, lane / 8 % 2), Tile::first(shared_, lane, 0),
                         *this);
        if (masked) mask_scores<T>(s[0], sight, MaskBytes<T>(sight, 0), 0, 0, nullptr);
        whole_softmax<T>(s[0], rows[0], factor);
        uint32_t p[1][T::n_tiles / 2][4];
        pack_weights<T>(p, s);
        multiply_values<T>(out, p, shared_ + T::kv_bytes);
    }

    // What multiply_keys asks for.
    MZT_DEVICE void queries(uint32_t (&to)[4], int, int k) const {
        const int lane = thread_index() % 32, row = thread_index() / 32 * 16 + lane % 16;
        load_matrices(to, Tile::at(Tile::first(queries_at(place_), row, lane / 16), 0, 2 * k));
    }
    MZT_DEVICE void query_rest(uint32_t (&to)[2], int) const {
        const int lane = thread_index() % 32, row = thread_index() / 32 * 16 + lane % 16;
        load_matrices(to, Tile::at(Tile::first(queries_at(place_), row, 0), 0, 2 * T::k_steps));
    }

private:
    MZT_DEVICE uint32_t queries_at(int place) const { return shared_ + T::q_begin + place * T::q_bytes; }

    Source source_;
    uint32_t shared_;
    int place_ = 0;
};

// A block has a run of query tiles of one head; blocks of a head are numbered first.
template <class T>
MZT_DEVICE void short_keys_block(const ForwardParams& params, void* shared) {
    using Element = typename T::Element;
    using Architecture = typename T::Architecture;
    constexpr int tile_m = T::Shape::tile_m;
    const uint32_t runs = (params.q_tiles + params.tiles_per_block - 1) / params.tiles_per_block;
    const uint32_t block = block_index(), row = block / runs;
    const int begin = static_cast<int>(block % runs) * params.tiles_per_block;
    const int wanted = begin + params.tiles_per_block;
    const int end = wanted < params.q_tiles ? wanted : params.q_tiles;
    Place place{begin * tile_m, 0, static_cast<int>(row % params.heads), row / params.heads};

    const int kv_head = place.head / params.heads_per_kv;
    const int limit = key_range<T>(params, place).limit;
    typename ShortLoop<T>::Source source;
    source.q = static_cast<const Element*>(params.q) + place.batch * params.q_stride.batch +
               place.head * params.q_stride.head;
    source.k = static_cast<const Element*>(params.k) + place.batch * params.k_stride.batch +
               kv_head * params.k_stride.head;
    source.v = static_cast<const Element*>(params.v) + place.batch * params.v_stride.batch +
               kv_head * params.v_stride.head;
    source.q_row = params.q_stride.token;
    source.k_row = params.k_stride.token;
    source.v_row = params.v_stride.token;
    source.nq = params.nq;
    source.key_limit = limit;

    const float factor = params.factor;
    const bool masked = params.causal || limit < T::Shape::tile_n;
    ShortLoop<T> loop(source, shared_address(shared));
    loop.load_keys_and_values();
    loop.load_queries(place.first_query, 0);
    commit_copies<Architecture>();
    for (int tile = begin; tile < end; ++tile) {
        wait_copies<Architecture, 0>();
        barrier();  // these queries are there for all, and all are done with those before
        if (tile + 1 < end) loop.load_queries((tile + 1) * tile_m, (tile + 1 - begin) % 2);
        commit_copies<Architecture>();
        place.first_query = tile * tile_m;
        const Sight sight = sight_of<T>(params, place, limit);
        loop.work((tile - begin) % 2, masked, sight, factor);
        write_out<T>(loop, params, place, AsTheyAre{});
    }
}

}  // namespace mezzotint
