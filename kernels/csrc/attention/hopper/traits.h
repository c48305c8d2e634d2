// What Hopper's forward kernel knows when it is compiled.
//
// A block is one group of four warps that copies and `groups` that multiply, each 64 queries. Tiles as in arXiv 2407.08608:
// as many keys as scores, weights and sums of outputs leave registers for.
#pragma once

#include "../../hopper_primitives.h"
#include "params.h"

namespace mezzotint {

constexpr int kGroupThreads = 128;

template <int groups_, int tile_n_>
struct HopperShape {
    static constexpr int groups = groups_;
    static constexpr int tile_n = tile_n_;
    static constexpr int m_tiles = 1;
    static constexpr int rows_per_warp = 16;
    static constexpr int tile_m = 64 * groups;
    static constexpr int threads = kGroupThreads * (groups + 1);
};

template <typename Element_, int head_dim_, class Shape_>
struct HopperTraits {
    using Element = Element_;
    using Weight = Element_;
    using Shape = Shape_;
    static constexpr int head_dim = head_dim_;
    static constexpr int slice_dim = head_dim_;
    static constexpr bool masked = false;

    static constexpr int n_tiles = Shape::tile_n / 8;
    static constexpr int out_tiles = head_dim / 8;
    static constexpr int stages = 2;  // of keys, and of values

    static constexpr int columns = panel_columns(head_dim);  // of a panel
    static constexpr int panels = head_dim / columns;
    static constexpr int row_bytes = columns * 2;
    static constexpr int eights = 8 * row_bytes;  // from eight rows to the next
    static constexpr int q_panel = Shape::tile_m * row_bytes;
    static constexpr int kv_panel = Shape::tile_n * row_bytes;
    static constexpr int q_bytes = panels * q_panel;
    static constexpr int kv_bytes = panels * kv_panel;

    static constexpr int k_begin = q_bytes;
    static constexpr int v_begin = k_begin + stages * kv_bytes;
    static constexpr int barriers_begin = v_begin + stages * kv_bytes;
    // Full and empty ones: of the queries, of each stage of keys, and of values.
    static constexpr int ring_barriers = 2 * stages * 8;
    static constexpr int q_barriers = barriers_begin;
    static constexpr int k_barriers = q_barriers + 16;
    static constexpr int v_barriers = k_barriers + ring_barriers;
    static constexpr int shared_bytes = v_barriers + ring_barriers;

    // Together at most the 65536 of a multiprocessor.
    static constexpr int producer_registers = Shape::groups == 2 ? 24 : 32;
    static constexpr int consumer_registers = Shape::groups == 2 ? 240 : 160;

    static_assert(Shape::tile_n % 16 == 0 && head_dim % 32 == 0, "products are 16 deep");
    static_assert(q_panel % 1024 == 0 && kv_panel % 1024 == 0, "chunks are exchanged by an address's bits below 1024");
    static_assert(shared_bytes <= 227 * 1024, "what a block may have");
    static_assert(kGroupThreads * (producer_registers + Shape::groups * consumer_registers) <= 65536, "all there are");
};

}  // namespace mezzotint
