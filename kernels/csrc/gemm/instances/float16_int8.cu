#include "../compiled.h"

namespace mezzotint::gemm {

static const Instance k_float16_int8[] = {
    instance<float16, 8, Shape256x128>(),
    instance<float16, 8, Shape128x128>(),
    instance<float16, 8, Shape128x64>(),
    instance<float16, 8, Shape64x64>(),
};

InstanceList list_float16_int8() {
    return {k_float16_int8, sizeof k_float16_int8 / sizeof *k_float16_int8};
}

}  // namespace mezzotint::gemm
