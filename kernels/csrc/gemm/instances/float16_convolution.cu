#include "../convolution.h"

namespace mezzotint::gemm {

static const Instance k_float16_convolution[] = {
    convolution_instance<float16, Fp8Shape128x128>(),
    convolution_instance<float16, Shape64x64>(),
};

InstanceList list_float16_convolution() {
    return {k_float16_convolution, sizeof k_float16_convolution / sizeof *k_float16_convolution};
}

}  // namespace mezzotint::gemm
