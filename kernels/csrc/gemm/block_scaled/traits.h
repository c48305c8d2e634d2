// What a kernel of block-scaled products knows when it is compiled.
#pragma once

#include "../../block_scaled_api.h"
#include "../../block_scaled_primitives.h"
#include "../traits.h"

namespace mezzotint::block_scaled {

using gemm::kTileDepth;

// Shared memory holds `stages` tiles of x, then of the weight, then the scales of both: of NVFP4 8 bytes of a row, which
// are a tile's; of MXFP8 4, which two tiles in succession share.
template <typename Element_, MztBlockFormat format_, class Shape_>
struct Traits {
    using Architecture = Ampere;
    using Element = Element_;  // of the output and of all that is added to it
    using Shape = Shape_;
    static constexpr MztBlockFormat format = format_;
    static constexpr int out_columns = Shape::tile_n;  // in a tile
    static constexpr int stages = Shape::stages;
    static constexpr int scale_words = format == MZT_NVFP4 ? 2 : 1;
    static constexpr int scale_bytes = 4 * scale_words;  // of a row of a tile

    static constexpr int x_bytes = Shape::tile_m * kTileDepth;
    static constexpr int weight_bytes = Shape::tile_n * kTileDepth;
    static constexpr int weight_begin = stages * x_bytes;
    static constexpr int x_scales_begin = weight_begin + stages * weight_bytes;
    static constexpr int weight_scales_begin = x_scales_begin + stages * Shape::tile_m * scale_bytes;
    static constexpr int shared_bytes = weight_scales_begin + stages * Shape::tile_n * scale_bytes;

    static_assert(Shape::m_tiles % 2 == 0 && Shape::n_tiles % 2 == 0, "scales of two tiles are in a register");
};

}  // namespace mezzotint::block_scaled
