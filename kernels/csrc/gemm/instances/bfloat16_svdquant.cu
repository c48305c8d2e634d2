#include "../grouped.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_svdquant[] = {
    grouped_instance<bfloat16, Shape128x128By8>(),
    grouped_instance<bfloat16, Shape64x64>(),
};

InstanceList list_bfloat16_svdquant() {
    return {k_bfloat16_svdquant, sizeof k_bfloat16_svdquant / sizeof *k_bfloat16_svdquant};
}

}  // namespace mezzotint::gemm
