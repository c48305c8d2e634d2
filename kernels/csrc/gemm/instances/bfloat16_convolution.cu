#include "../convolution.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_convolution[] = {
    convolution_instance<bfloat16, Fp8Shape128x128>(),
    convolution_instance<bfloat16, Shape64x64>(),
};

InstanceList list_bfloat16_convolution() {
    return {k_bfloat16_convolution, sizeof k_bfloat16_convolution / sizeof *k_bfloat16_convolution};
}

}  // namespace mezzotint::gemm
