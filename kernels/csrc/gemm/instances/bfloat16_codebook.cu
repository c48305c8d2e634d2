#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_codebook[] = {
    codebook_instance<bfloat16, Shape256x128>(),
    codebook_instance<bfloat16, Shape64x64>(),
};

InstanceList list_bfloat16_codebook() {
    return {k_bfloat16_codebook, sizeof k_bfloat16_codebook / sizeof *k_bfloat16_codebook};
}

}  // namespace mezzotint::gemm
