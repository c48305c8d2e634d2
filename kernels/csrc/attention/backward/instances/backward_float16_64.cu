// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_float16_64[] = {
    instance<float16, 64, Shape<1, 8, 64, 2>>(),
    instance<float16, 64, Shape<1, 4, 64, 2>>(),
    dropout_instance<float16, 64, Shape<1, 4, 64, 2>>(),
};

InstanceList list_backward_float16_64() { return {k_backward_float16_64, sizeof k_backward_float16_64 / sizeof *k_backward_float16_64}; }

}  // namespace mezzotint::backward_pass
