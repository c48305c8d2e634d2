// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_bfloat16_80[] = {
    instance<bfloat16, 80, Shape<1, 8, 64, 2>>(),
    instance<bfloat16, 80, Shape<1, 4, 32, 2>>(),
};

InstanceList list_backward_bfloat16_80() { return {k_backward_bfloat16_80, sizeof k_backward_bfloat16_80 / sizeof *k_backward_bfloat16_80}; }

}  // namespace mezzotint::backward_pass
