#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_float16_codebook[] = {
    codebook_instance<float16, Shape256x128>(),
    codebook_instance<float16, Shape64x64>(),
};

InstanceList list_float16_codebook() {
    return {k_float16_codebook, sizeof k_float16_codebook / sizeof *k_float16_codebook};
}

}  // namespace mezzotint::gemm
