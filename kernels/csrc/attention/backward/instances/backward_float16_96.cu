// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_float16_96[] = {
    instance<float16, 96, Shape<1, 8, 32, 2>>(),
    instance<float16, 96, Shape<1, 4, 32, 2>>(),
};

InstanceList list_backward_float16_96() { return {k_backward_float16_96, sizeof k_backward_float16_96 / sizeof *k_backward_float16_96}; }

}  // namespace mezzotint::backward_pass
