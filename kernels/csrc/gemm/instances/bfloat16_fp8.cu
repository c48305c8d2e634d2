#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_fp8[] = {
    fp8_instance<bfloat16, Fp8Shape128x128>(),
    fp8_instance<bfloat16, Shape64x64>(),
};

InstanceList list_bfloat16_fp8() {
    return {k_bfloat16_fp8, sizeof k_bfloat16_fp8 / sizeof *k_bfloat16_fp8};
}

}  // namespace mezzotint::gemm
