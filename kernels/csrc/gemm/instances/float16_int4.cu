#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_float16_int4[] = {
    instance<float16, 4, Shape256x128>(),
    instance<float16, 4, Shape128x128>(),
    instance<float16, 4, Shape128x64>(),
    instance<float16, 4, Shape64x64>(),
};

InstanceList list_float16_int4() {
    return {k_float16_int4, sizeof k_float16_int4 / sizeof *k_float16_int4};
}

}  // namespace mezzotint::gemm
