#include "../grouped.h"

namespace mezzotint::gemm {

static const Instance k_float16_svdquant[] = {
    grouped_instance<float16, Shape128x128By8>(),
    grouped_instance<float16, Shape64x64>(),
};

InstanceList list_float16_svdquant() {
    return {k_float16_svdquant, sizeof k_float16_svdquant / sizeof *k_float16_svdquant};
}

}  // namespace mezzotint::gemm
