// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_float16_128[] = {
    instance<float16, 128, Shape<1, 8, 32, 2>>(),
    instance<float16, 128, Shape<1, 8, 32, 1>>(),
    instance<float16, 128, Shape<1, 4, 32, 1>>(),
};

InstanceList list_backward_float16_128() { return {k_backward_float16_128, sizeof k_backward_float16_128 / sizeof *k_backward_float16_128}; }

}  // namespace mezzotint::backward_pass
