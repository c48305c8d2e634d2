#include "../gated.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_gated[] = {
    gated_instance<bfloat16, Shape256x128>(),
    gated_instance<bfloat16, Shape128x128>(),
    gated_instance<bfloat16, Shape64x64>(),
};

InstanceList list_bfloat16_gated() {
    return {k_bfloat16_gated, sizeof k_bfloat16_gated / sizeof *k_bfloat16_gated};
}

}  // namespace mezzotint::gemm
