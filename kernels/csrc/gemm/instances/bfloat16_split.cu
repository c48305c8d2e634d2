#include "../split.h"

namespace mezzotint::gemm {

static const Instance k_bfloat16_split[] = {
    split_instance<bfloat16, Shape64x64>(),
};

InstanceList list_bfloat16_split() {
    return {k_bfloat16_split, sizeof k_bfloat16_split / sizeof *k_bfloat16_split};
}

}  // namespace mezzotint::gemm
