#include "../split.h"

namespace mezzotint::gemm {

static const Instance k_float16_split[] = {
    split_instance<float16, Shape64x64>(),
};

InstanceList list_float16_split() {
    return {k_float16_split, sizeof k_float16_split / sizeof *k_float16_split};
}

}  // namespace mezzotint::gemm
