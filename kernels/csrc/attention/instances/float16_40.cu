// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_float16_40[] = {
    instance<float16, 40, Shape<2, 4, 64, 2, true>, false>(),
    instance<float16, 40, Shape<1, 4, 64, 2, true>, false>(),
    instance<float16, 40, Shape<1, 4, 64, 2, true>, true>(),
    short_instance<float16, 40, 4, 96>(),
    short_instance<float16, 40, 4, 128>(),
};

InstanceList list_float16_40() { return {k_float16_40, sizeof k_float16_40 / sizeof *k_float16_40}; }

}  // namespace mezzotint
