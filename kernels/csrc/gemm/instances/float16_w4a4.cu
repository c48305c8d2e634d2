#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_float16_w4a4[] = {
    instance<float16, 4, Shape256x128, 4>(),
    instance<float16, 4, Shape128x128, 4>(),
    instance<float16, 4, Shape128x64, 4>(),
    instance<float16, 4, Shape64x64, 4>(),
};

InstanceList list_float16_w4a4() {
    return {k_float16_w4a4, sizeof k_float16_w4a4 / sizeof *k_float16_w4a4};
}

}  // namespace mezzotint::gemm
