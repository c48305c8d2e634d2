// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_float16_256[] = {
    instance<float16, 256, Shape<1, 4, 32, 2, false>, false>(),
    instance<float16, 256, Shape<1, 4, 16, 1, false>, false>(),
    instance<float16, 256, Shape<1, 4, 32, 2, false>, true>(),
    instance<float16, 256, Shape<1, 4, 16, 1, false>, true>(),
};

InstanceList list_float16_256() { return {k_float16_256, sizeof k_float16_256 / sizeof *k_float16_256}; }

}  // namespace mezzotint
