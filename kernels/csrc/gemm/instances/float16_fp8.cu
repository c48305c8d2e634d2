#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_float16_fp8[] = {
    fp8_instance<float16, Fp8Shape128x128>(),
    fp8_instance<float16, Shape64x64>(),
};

InstanceList list_float16_fp8() {
    return {k_float16_fp8, sizeof k_float16_fp8 / sizeof *k_float16_fp8};
}

}  // namespace mezzotint::gemm
