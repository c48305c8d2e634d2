// Gated linear units: two layers with the same x, each eight columns of one beside those of the other, so that a lane has
// both numbers of which it makes one. The output is as wide as one layer's.
#pragma once

#include "compiled.h"

namespace mezzotint::gemm {

template <class Architecture, typename Element, class Shape_>
struct GatedTraits : Traits<Architecture, Element, 8, Shape_> {
    static constexpr bool is_gated = true;
    static constexpr int out_columns = Shape_::tile_n / 2;
};

MZT_DEVICE float gated(float value, float gate, uint32_t activation) {
    return value * (activation == MZT_GATED_GELU ? gelu(gate) : silu(gate));
}

// A warp's tiles of a row and of the one eight further are written four at a time, as those of a quad.
template <class T>
MZT_DEVICE void write_gated(const Values<T>& values, const LinearParams& params, const Place& place) {
    constexpr int tiles = T::Shape::n_tiles / 2;
    const int first_column = place.first_column + warp_column<T>() / 2;
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int first = 0; first < 2 * tiles; first += 4) {
            float pairs[4][2];
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                const int half = (first + each) / tiles, n = (first + each) % tiles * 2;
#pragma unroll
                for (int of_pair = 0; of_pair < 2; ++of_pair) {
                    const int at = 2 * half + of_pair;
                    pairs[each][of_pair] = gated(values[m][n][at], values[m][n + 1][at], params.activation);
                }
            }
            turn_quad(pairs);
            const int mine = first + thread_index() % 4;
            const int row = fragment_row<T>(place) + m * 16 + mine / tiles * 8;
            const int column = first_column + mine % tiles * 8;
            if (row < params.rows && column < params.out_columns) {
                write_eight<typename T::Element>(pairs, params, row, column);
            }
        }
    }
}

template <class T>
MZT_DEVICE void gated_block(const LinearParams& params, void* shared) {
    const Place place = place_of<T>(params, block_index());
    const Layer layer = part_layer(params, 0);
    Mainloop<T> loop(params, layer, place, shared_address(shared));
    loop.run();
    Values<T> values;
    scale_sums<T>(values, loop.sums, params, layer, place);
    write_gated<T>(values, params, place);
}

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_gated(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) gated_block<T>(*static_cast<const LinearParams*>(params), shared);
}

#else

template <typename Element, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) gated_linear_product(const __grid_constant__ LinearParams params) {
    using T = GatedTraits<ThisArchitecture, Element, Shape>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        gated_block<T>(params, shared);
    }
}

#endif

template <typename Element, class Shape>
Instance gated_instance() {
    using T = GatedTraits<Ampere, Element, Shape>;
    using OnTuring = GatedTraits<Turing, Element, Shape>;
    Instance made = described<T, OnTuring>();
#ifdef MEZZOTINT_EMULATOR
    made.entry = made.hopper_entry = &run_gated<T>;
    made.turing_entry = &run_gated<OnTuring>;
#else
    made.entry = made.turing_entry = made.hopper_entry =
        reinterpret_cast<Entry>(&gated_linear_product<Element, Shape>);
#endif
    return made;
}

}  // namespace mezzotint::gemm
