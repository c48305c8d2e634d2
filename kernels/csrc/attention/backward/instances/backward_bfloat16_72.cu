// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_bfloat16_72[] = {
    instance<bfloat16, 72, Shape<1, 8, 64, 2>>(),
    instance<bfloat16, 72, Shape<1, 4, 64, 2>>(),
};

InstanceList list_backward_bfloat16_72() { return {k_backward_bfloat16_72, sizeof k_backward_bfloat16_72 / sizeof *k_backward_bfloat16_72}; }

}  // namespace mezzotint::backward_pass
