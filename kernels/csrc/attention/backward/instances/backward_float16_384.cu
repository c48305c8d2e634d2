// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint::backward_pass {

static const Instance k_backward_float16_384[] = {
    instance<float16, 384, Shape<1, 4, 32, 1>, 128>(),
    instance<float16, 384, Shape<1, 2, 16, 2>, 128>(),
};

InstanceList list_backward_float16_384() { return {k_backward_float16_384, sizeof k_backward_float16_384 / sizeof *k_backward_float16_384}; }

}  // namespace mezzotint::backward_pass
