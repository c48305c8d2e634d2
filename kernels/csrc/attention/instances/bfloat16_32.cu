// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_bfloat16_32[] = {
    instance<bfloat16, 32, Shape<2, 4, 64, 2, true>, false>(),
    instance<bfloat16, 32, Shape<1, 4, 64, 2, true>, false>(),
    instance<bfloat16, 32, Shape<1, 4, 64, 2, true>, true>(),
};

InstanceList list_bfloat16_32() { return {k_bfloat16_32, sizeof k_bfloat16_32 / sizeof *k_bfloat16_32}; }

}  // namespace mezzotint
