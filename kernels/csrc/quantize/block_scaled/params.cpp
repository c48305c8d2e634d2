#include "../blocks.h"
#include "rows.h"

namespace mezzotint::quantize {

QuantizeParams block_scaled_quantize_params(const MztBlockScaledQuantizeArgs& args) {
    QuantizeParams params = quantize_params(args.rows);
    params.block_scales = args.block_scales;
    params.block_scales_stride = args.block_scales_stride;
    return params;
}

}  // namespace mezzotint::quantize
