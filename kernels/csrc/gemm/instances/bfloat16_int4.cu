#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_int4[] = {
    instance<bfloat16, 4, Shape256x128>(),
    instance<bfloat16, 4, Shape128x128>(),
    instance<bfloat16, 4, Shape128x64>(),
    instance<bfloat16, 4, Shape64x64>(),
};

InstanceList list_bfloat16_int4() {
    return {k_bfloat16_int4, sizeof k_bfloat16_int4 / sizeof *k_bfloat16_int4};
}

}  // namespace mezzotint::gemm
