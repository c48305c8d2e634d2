// What a kernel with 8-bit weights and values knows when it is compiled.
#pragma once

#include "../traits.h"
#include "params.h"

namespace mezzotint {

// Without masks, biases and tables: the other kernels have those.
template <class Architecture_, typename Element_, int head_dim_, class Shape_>
struct Int8AllTraits {
    using Architecture = Architecture_;
    using Element = Element_;  // of the output
    using Shape = Shape_;
    static constexpr int head_dim = head_dim_;
    static constexpr int slice_dim = head_dim_;
    static constexpr bool masked = false;
    static constexpr bool fp8_values = false;
    using WeightSum = uint32_t;  // of a row in a tile
    static constexpr int padded_dim = (head_dim + 31) / 32 * 32;

    static constexpr int k_steps = padded_dim / 32;
    static constexpr int n_tiles = Shape::tile_n / 8;
    static constexpr int value_steps = Shape::tile_n / 32;  // of 32 keys, in the product of weights and values
    static constexpr int out_tiles = head_dim / 8;

    static constexpr int q_bytes = Shape::tile_m * padded_dim;
    static constexpr int k_bytes = Shape::tile_n * padded_dim;
    static constexpr int v_begin = Shape::k_stages * k_bytes;
    static constexpr int kv_bytes = v_begin + head_dim * Shape::tile_n;
    static constexpr int shared_bytes = q_bytes > kv_bytes ? q_bytes : kv_bytes;

    static_assert(Shape::q_in_registers && Shape::k_stages == 2, "queries move to registers");
    static_assert(padded_dim <= 256 && Shape::tile_n <= 128, "sums are below 2^22: they are also the bits of a float");
};

// The same with weights and values that are floats of 8 bits (fp8_values.h).
template <class Architecture, typename Element, int head_dim, class Shape>
struct Int8Fp8Traits : Int8AllTraits<Architecture, Element, head_dim, Shape> {
    static constexpr bool fp8_values = true;
    using WeightSum = float;
};

}  // namespace mezzotint
