// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_bfloat16_88[] = {
    instance<bfloat16, 88, Shape<1, 8, 32, 2>>(),
    instance<bfloat16, 88, Shape<1, 4, 32, 2>>(),
};

InstanceList list_backward_bfloat16_88() { return {k_backward_bfloat16_88, sizeof k_backward_bfloat16_88 / sizeof *k_backward_bfloat16_88}; }

}  // namespace mezzotint::backward_pass
