// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_float16_32[] = {
    instance<float16, 32, Shape<2, 4, 64, 2, true>, false>(),
    instance<float16, 32, Shape<1, 4, 64, 2, true>, false>(),
    instance<float16, 32, Shape<1, 4, 64, 2, true>, true>(),
};

InstanceList list_float16_32() { return {k_float16_32, sizeof k_float16_32 / sizeof *k_float16_32}; }

}  // namespace mezzotint
