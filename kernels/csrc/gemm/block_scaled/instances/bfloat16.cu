#include "../compiled.h"

namespace mezzotint::block_scaled {

static const Instance k_bfloat16[] = {
    instance<bfloat16, MZT_MXFP8, Shape256x128>(),
    instance<bfloat16, MZT_MXFP8, Shape128x64>(),
    instance<bfloat16, MZT_NVFP4, Shape256x128>(),
    instance<bfloat16, MZT_NVFP4, Shape128x64>(),
};

InstanceList list_bfloat16() { return {k_bfloat16, sizeof k_bfloat16 / sizeof *k_bfloat16}; }

}  // namespace mezzotint::block_scaled
