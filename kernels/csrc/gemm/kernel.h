// The kernel of the integer product: which part of the output is this block's, the main loop, and the way out.
#pragma once

#include "branch.h"
#include "epilogue.h"
#include "heads.h"

namespace mezzotint::gemm {

constexpr uint32_t kRowTilesTogether = 8;

// Blocks that are at work at the same time take a part of the output that is about as high as wide, so that they read
// few different rows of x and of the weight.
template <class T>
MZT_DEVICE Place place_of(const LinearParams& params, uint32_t block) {
    const uint32_t of_group = kRowTilesTogether * params.column_tiles;
    const uint32_t first = block / of_group * kRowTilesTogether, within = block % of_group;
    const uint32_t left = params.row_tiles - first;
    const uint32_t together = left < kRowTilesTogether ? left : kRowTilesTogether;
    return {static_cast<int>(first + within % together) * T::Shape::tile_m,
            static_cast<int>(within / together) * T::out_columns};
}

template <class T>
MZT_DEVICE void finish_block(const typename T::Sum (&sums)[T::Shape::m_tiles][T::Shape::n_tiles][4],
                             const LinearParams& params, const Layer& layer, const Place& place, void* shared) {
    Values<T> values;
    scale_sums<T>(values, sums, params, layer, place);
    if constexpr (T::weight_bits == 8) {
        if (layer.flags) finish_heads<T>(values, params, layer, place, static_cast<float*>(shared));
    }
    if (params.branch_x) add_branch<T>(values, params, place, shared_address(shared));
    write_out<T>(values, params, place);
}

template <class T>
MZT_DEVICE void linear_block(const LinearParams& params, void* shared) {
    const Place place = place_of<T>(params, block_index());
    const Layer layer = layer_of<T>(params, place);
    Mainloop<T> loop(params, layer, place, shared_address(shared));
    loop.run();
    finish_block<T>(loop.sums, params, layer, place, shared);
}

}  // namespace mezzotint::gemm
