// What a forward kernel knows when it is compiled: types, tile sizes, and where things lie in shared memory.
#pragma once

#include "../primitives.h"

namespace mezzotint {

// How a block works: each of `warps` warps owns 16 * m_tiles query rows, whole; keys come `tile_n` at a time.
template <int m_tiles_, int warps_, int tile_n_, int k_stages_, bool q_in_registers_>
struct Shape {
    static constexpr int m_tiles = m_tiles_;
    static constexpr int warps = warps_;
    static constexpr int tile_n = tile_n_;
    static constexpr int k_stages = k_stages_;  // 2: the next keys arrive while these are multiplied
    static constexpr bool q_in_registers = q_in_registers_;
    static constexpr int rows_per_warp = 16 * m_tiles;
    static constexpr int tile_m = rows_per_warp * warps;
    static constexpr int threads = 32 * warps;
};

// `masked`: a bias or a mask is looked at in every tile; else only the ragged and the causal edge are.
// A head too wide for the registers is worked out in slices of `slice_dim` columns, each by blocks of its own.
template <class Architecture_, typename Element_, int head_dim_, class Shape_, bool masked_, int slice_dim_ = head_dim_>
struct Traits {
    using Architecture = Architecture_;
    using Element = Element_;
    using Weight = Element_;  // what the softmax's weights are multiplied as
    using Value = Element_;
    using Shape = Shape_;
    static constexpr int head_dim = head_dim_;
    static constexpr int slice_dim = slice_dim_;
    static constexpr bool masked = masked_;
    static constexpr bool dropout = false;
    static constexpr bool half_sums = false;  // of weights times values, over the keys of a tile

    static constexpr int k_steps = head_dim / 16;         // of 16, in q k^T
    static constexpr bool k_rest = head_dim % 16 != 0;    // and one of 8
    static constexpr int n_tiles = Shape::tile_n / 8;     // of 8 keys
    static constexpr int out_tiles = slice_dim / 8;       // of 8 columns

    static constexpr int q_bytes = Shape::tile_m * head_dim * 2;
    static constexpr int k_bytes = Shape::tile_n * head_dim * 2;
    static constexpr int v_bytes = Shape::tile_n * slice_dim * 2;
    static constexpr int kv_bytes = Shape::k_stages * k_bytes + v_bytes;
    // Queries that move to registers make room for keys and values.
    static constexpr int kv_begin = Shape::q_in_registers ? 0 : q_bytes;
    static constexpr int v_begin = kv_begin + Shape::k_stages * k_bytes;
    static constexpr int shared_bytes =
        Shape::q_in_registers ? (q_bytes > kv_bytes ? q_bytes : kv_bytes) : q_bytes + kv_bytes;

    static_assert(head_dim % 8 == 0 && head_dim % slice_dim == 0 && slice_dim % 8 == 0, "rows are 16-byte chunks");
    static_assert(!k_rest || Shape::tile_n % 32 == 0, "the last 8 columns of 32 keys are loaded at once");
    static_assert(Shape::tile_n % 16 == 0, "weights are multiplied 16 keys deep");
};

// Weights and values in float16, whose products are summed in float16 over the 64 keys of a tile, then in 32 bits. What
// keeps a tile's sums finite: values are at most 1 (half_sums.h), and weights at most 2^kMostBehind (softmax.h).
template <class Architecture, typename Element, int head_dim, class Shape, bool masked>
struct HalfSumsTraits : Traits<Architecture, Element, head_dim, Shape, masked> {
    using Weight = float16;
    using Value = float16;
    static constexpr bool half_sums = true;
    static_assert(Shape::tile_n <= 64, "64 keys with weights of 256 are a quarter of the largest float16");
};

template <class Architecture, typename Element, int head_dim, class Shape>
struct DropoutTraits : Traits<Architecture, Element, head_dim, Shape, false> {
    static constexpr bool dropout = true;
};

}  // namespace mezzotint
