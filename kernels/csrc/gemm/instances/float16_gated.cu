#include "../gated.h"

namespace mezzotint::gemm {

static const Instance k_float16_gated[] = {
    gated_instance<float16, Shape256x128>(),
    gated_instance<float16, Shape128x128>(),
    gated_instance<float16, Shape64x64>(),
};

InstanceList list_float16_gated() {
    return {k_float16_gated, sizeof k_float16_gated / sizeof *k_float16_gated};
}

}  // namespace mezzotint::gemm
