// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_bfloat16_160[] = {
    instance<bfloat16, 160, Shape<1, 8, 16, 2>>(),
    instance<bfloat16, 160, Shape<1, 4, 16, 2>>(),
};

InstanceList list_backward_bfloat16_160() { return {k_backward_bfloat16_160, sizeof k_backward_bfloat16_160 / sizeof *k_backward_bfloat16_160}; }

}  // namespace mezzotint::backward_pass
