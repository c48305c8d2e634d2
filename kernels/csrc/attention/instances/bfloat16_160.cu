// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_bfloat16_160[] = {
    instance<bfloat16, 160, Shape<1, 8, 32, 2, true>, false>(),
    instance<bfloat16, 160, Shape<1, 4, 32, 2, true>, false>(),
    instance<bfloat16, 160, Shape<1, 4, 32, 2, true>, true>(),
    short_instance<bfloat16, 160, 4, 80>(),
    short_instance<bfloat16, 160, 4, 128>(),
};

InstanceList list_bfloat16_160() { return {k_bfloat16_160, sizeof k_bfloat16_160 / sizeof *k_bfloat16_160}; }

}  // namespace mezzotint
