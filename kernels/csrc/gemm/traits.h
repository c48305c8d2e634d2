// What a kernel of the integer product knows when it is compiled: types, tile sizes, where things lie in shared memory.
#pragma once

#include "../primitives.h"
#include "params.h"

namespace mezzotint::gemm {

// How a block works: warps_m x warps_n warps, each of which owns 16 * m_tiles rows and 8 * n_tiles columns of the output.
template <int warps_m_, int warps_n_, int m_tiles_, int n_tiles_, int stages_>
struct Shape {
    static constexpr int warps_n = warps_n_;
    static constexpr int m_tiles = m_tiles_;
    static constexpr int n_tiles = n_tiles_;
    static constexpr int stages = stages_;  // tiles that are there or on their way, where copies are asynchronous
    static constexpr int threads = 32 * warps_m_ * warps_n;
    static constexpr int tile_m = 16 * m_tiles * warps_m_;
    static constexpr int tile_n = 8 * n_tiles * warps_n;
    static_assert(n_tiles % 4 == 0, "a quad of lanes turns four tiles of 8 columns at once");
};

// Shared memory holds `stages` tiles of x; weights of as many bits beside them. Weights of 4 bits for x of 8 wait in
// `packed_stages` as they came, and the two tiles that are multiplied, now and next, are widened to 8 bits.
template <class Architecture_, typename Element_, int weight_bits_, class Shape_, int x_bits_ = 8,
          bool has_codebook_ = false>
struct Traits {
    using Architecture = Architecture_;
    using Element = Element_;  // of the output and of all that is added to it
    using Shape = Shape_;
    static constexpr int weight_bits = weight_bits_;
    static constexpr int x_bits = x_bits_;
    using Sum = int32_t;  // of the main loop
    static constexpr bool is_fp8 = false;
    static constexpr bool is_widened = weight_bits < x_bits;  // the weight, in shared memory
    static constexpr bool has_codebook = has_codebook_;  // of weights of 4 bits for x of 8 (codebook.h)
    static constexpr bool has_group_scales = false;  // of both sides (grouped.h)
    static constexpr bool is_split = false;          // the columns of x, among blocks (split.h)
    static constexpr bool is_gated = false;          // pairs of columns become one (gated.h)
    static constexpr bool has_row_scales = true;     // of x; else sums have them already (convolution.h)
    static constexpr int out_columns = Shape::tile_n;  // of the output in a tile
    static constexpr int sum_shift = x_bits == 4 && !Architecture::has_int4_products ? 8 : 0;  // multiply_int4()
    static constexpr int stages = Architecture::has_async_copies ? Shape::stages : 2;

    static constexpr int x_bytes = Shape::tile_m * kTileDepth;
    static constexpr int weight_bytes = Shape::tile_n * kTileDepth;
    static constexpr int weight_stages = is_widened ? 2 : stages;
    static constexpr int weight_begin = stages * x_bytes;
    static constexpr int packed_bytes = weight_bytes / 2;
    static constexpr int packed_stages = !is_widened || !Architecture::has_async_copies ? 0 : stages - 1;
    static constexpr int packed_begin = weight_begin + weight_stages * weight_bytes;
    static constexpr int shared_bytes = packed_begin + packed_stages * packed_bytes;

    static_assert(weight_bits == 8 || weight_bits == 4, "as the C ABI has them");
    static_assert(x_bits == 8 || (x_bits == 4 && weight_bits == 4), "as the C ABI has them");
    static_assert(stages >= 2, "one tile is multiplied while the next arrives");
};

// Both sides are floats of 8 bits (e4m3).
template <class Architecture, typename Element, class Shape>
struct Fp8Traits : Traits<Architecture, Element, 8, Shape> {
    using Sum = float;
    static constexpr bool is_fp8 = true;
};

}  // namespace mezzotint::gemm
