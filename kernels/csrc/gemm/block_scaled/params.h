// What the kernels of block-scaled products are told when they run; strides are in bytes.
#pragma once

#include "../params.h"

namespace mezzotint::block_scaled {

struct BlockScaledParams {
    gemm::LinearParams linear;  // x_scales may be null, for 1; weight_scales is not used
    const uint8_t *x_block_scales, *weight_block_scales;
    int64_t x_block_scales_stride, weight_block_scales_stride;
    const float* weight_scale;  // null: 1
};

}  // namespace mezzotint::block_scaled
