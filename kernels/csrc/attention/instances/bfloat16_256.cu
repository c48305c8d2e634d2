// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_bfloat16_256[] = {
    instance<bfloat16, 256, Shape<1, 4, 32, 2, false>, false>(),
    instance<bfloat16, 256, Shape<1, 4, 16, 1, false>, false>(),
    instance<bfloat16, 256, Shape<1, 4, 32, 2, false>, true>(),
    instance<bfloat16, 256, Shape<1, 4, 16, 1, false>, true>(),
};

InstanceList list_bfloat16_256() { return {k_bfloat16_256, sizeof k_bfloat16_256 / sizeof *k_bfloat16_256}; }

}  // namespace mezzotint
