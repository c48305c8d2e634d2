// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_bfloat16_256[] = {
    instance<bfloat16, 256, Shape<1, 4, 32, 2>, 128>(),
    instance<bfloat16, 256, Shape<1, 4, 16, 2>, 128>(),
    instance<bfloat16, 256, Shape<1, 2, 16, 1>, 128>(),
};

InstanceList list_backward_bfloat16_256() { return {k_backward_bfloat16_256, sizeof k_backward_bfloat16_256 / sizeof *k_backward_bfloat16_256}; }

}  // namespace mezzotint::backward_pass
