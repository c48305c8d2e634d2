#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_int8[] = {
    instance<bfloat16, 8, Shape256x128>(),
    instance<bfloat16, 8, Shape128x128>(),
    instance<bfloat16, 8, Shape128x64>(),
    instance<bfloat16, 8, Shape64x64>(),
};

InstanceList list_bfloat16_int8() {
    return {k_bfloat16_int8, sizeof k_bfloat16_int8 / sizeof *k_bfloat16_int8};
}

}  // namespace mezzotint::gemm
