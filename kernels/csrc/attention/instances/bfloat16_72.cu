// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_bfloat16_72[] = {
    instance<bfloat16, 72, Shape<2, 4, 64, 2, true>, false>(),
    instance<bfloat16, 72, Shape<1, 4, 64, 2, true>, false>(),
    instance<bfloat16, 72, Shape<1, 4, 64, 2, true>, true>(),
    short_instance<bfloat16, 72, 4, 96>(),
    short_instance<bfloat16, 72, 4, 128>(),
    int8_instance<bfloat16, 72, Shape<1, 8, 64, 2, true>, false>(),
    int8_instance<bfloat16, 72, Shape<1, 4, 64, 2, true>, false>(),
    int8_instance<bfloat16, 72, Shape<1, 4, 64, 2, true>, true>(),
    int8_all_instance<bfloat16, 72, Shape<1, 12, 64, 2, true>>(),
    int8_all_instance<bfloat16, 72, Shape<1, 4, 64, 2, true>>(),
};

InstanceList list_bfloat16_72() { return {k_bfloat16_72, sizeof k_bfloat16_72 / sizeof *k_bfloat16_72}; }

}  // namespace mezzotint
