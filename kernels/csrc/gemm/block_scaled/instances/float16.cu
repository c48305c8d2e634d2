#include "../compiled.h"

namespace mezzotint::block_scaled {

static const Instance k_float16[] = {
    instance<float16, MZT_MXFP8, Shape256x128>(),
    instance<float16, MZT_MXFP8, Shape128x64>(),
    instance<float16, MZT_NVFP4, Shape256x128>(),
    instance<float16, MZT_NVFP4, Shape128x64>(),
};

InstanceList list_float16() { return {k_float16, sizeof k_float16 / sizeof *k_float16}; }

}  // namespace mezzotint::block_scaled
