// What a backward kernel knows when it is compiled: types, tile sizes, and where things lie in shared memory.
//
// The roles of the forward are exchanged: warps own keys, and queries come a tile at a time. So products.h sees keys as
// rows and queries as columns, and multiplies by a tile of queries or of gradients as the forward does by values.
#pragma once

#include "../shared_tile.h"

namespace mezzotint {
namespace backward_pass {

// Each of `warps` warps owns 16 * m_tiles keys, whole; queries come `tile_n` at a time.
template <int m_tiles_, int warps_, int tile_n_, int stages_>
struct Shape {
    static constexpr int m_tiles = m_tiles_;
    static constexpr int warps = warps_;
    static constexpr int tile_n = tile_n_;
    static constexpr int stages = stages_;  // 2: the next queries arrive while these are multiplied
    static constexpr int rows_per_warp = 16 * m_tiles;
    static constexpr int tile_m = rows_per_warp * warps;
    static constexpr int threads = 32 * warps;
};

// A head too wide for the registers is worked out in slices of `part_dim` columns of all gradients, each by blocks of
// its own, which compute the weights once more.
template <class Architecture_, typename Element_, int head_dim_, class Shape_, int part_dim_ = head_dim_>
struct Traits {
    using Architecture = Architecture_;
    using Element = Element_;
    using Weight = Element_;
    using Shape = Shape_;
    static constexpr int head_dim = head_dim_;
    static constexpr int slice_dim = head_dim_;  // of a row in shared memory, which is whole
    static constexpr int part_dim = part_dim_;
    static constexpr bool masked = true;  // tables are followed
    static constexpr bool dropout = false;

    static constexpr int k_steps = head_dim / 16;
    static constexpr bool k_rest = head_dim % 16 != 0;
    static constexpr int n_tiles = Shape::tile_n / 8;  // of 8 queries
    static constexpr int out_tiles = part_dim / 8;     // of 8 columns of dk and dv

    // The product for dq: a warp has 16 queries and a run of columns.
    static constexpr int query_groups = Shape::tile_n / 16;
    static constexpr int column_groups = Shape::warps / query_groups > 0 ? Shape::warps / query_groups : 1;
    static constexpr int rounds = query_groups > Shape::warps ? query_groups / Shape::warps : 1;
    static constexpr int key_steps = Shape::tile_m / 16;

    // Tiles of 8 columns in such a run: an even number that starts where the swizzle does, or a power of 2 below it.
    static constexpr int swizzled = SharedTile<head_dim>::swizzled;
    static constexpr int fair_tiles = ((out_tiles + column_groups - 1) / column_groups + 1) / 2 * 2;
    static constexpr int run_tiles =
        fair_tiles >= swizzled ? (fair_tiles + swizzled - 1) / swizzled * swizzled : fair_tiles == 6 ? 8 : fair_tiles;

    static constexpr int key_bytes = Shape::tile_m * head_dim * 2;    // of the keys, and of the values
    static constexpr int query_bytes = Shape::tile_n * head_dim * 2;  // of the queries, and of their gradients
    static constexpr int row_bytes = Shape::tile_n * 8;               // of their facts
    static constexpr int v_begin = key_bytes;
    static constexpr int q_begin = 2 * key_bytes;
    static constexpr int stage_bytes = 2 * query_bytes;
    static constexpr int score_begin = q_begin + Shape::stages * stage_bytes;
    static constexpr int score_bytes = Shape::tile_m * Shape::tile_n * 2;
    static constexpr int rows_begin = score_begin + score_bytes;
    static constexpr int shared_bytes = rows_begin + Shape::stages * row_bytes;

    static_assert(head_dim % 8 == 0 && head_dim % part_dim == 0, "rows are 16-byte chunks");
    static_assert(part_dim == head_dim || part_dim % 64 == 0, "slices start where the swizzle does");
    static_assert(!k_rest || Shape::tile_n % 32 == 0, "the last 8 columns of 32 queries are loaded at once");
    static_assert(Shape::tile_n % 16 == 0 && Shape::tile_n <= 64, "gradients of scores are multiplied 16 deep");
    static_assert(query_groups % Shape::warps == 0 || Shape::warps % query_groups == 0, "all warps make dq");
};

template <class Architecture, typename Element, int head_dim, class Shape>
struct DropoutTraits : Traits<Architecture, Element, head_dim, Shape> {
    static constexpr bool masked = false;
    static constexpr bool dropout = true;
};

}  // namespace backward_pass
}  // namespace mezzotint
