#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_w4a4[] = {
    instance<bfloat16, 4, Shape256x128, 4>(),
    instance<bfloat16, 4, Shape128x128, 4>(),
    instance<bfloat16, 4, Shape128x64, 4>(),
    instance<bfloat16, 4, Shape64x64, 4>(),
};

InstanceList list_bfloat16_w4a4() {
    return {k_bfloat16_w4a4, sizeof k_bfloat16_w4a4 / sizeof *k_bfloat16_w4a4};
}

}  // namespace mezzotint::gemm
