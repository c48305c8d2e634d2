// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_bfloat16_32[] = {
    instance<bfloat16, 32, Shape<1, 8, 64, 2>>(),
    instance<bfloat16, 32, Shape<1, 4, 64, 2>>(),
};

InstanceList list_backward_bfloat16_32() { return {k_backward_bfloat16_32, sizeof k_backward_bfloat16_32 / sizeof *k_backward_bfloat16_32}; }

}  // namespace mezzotint::backward_pass
