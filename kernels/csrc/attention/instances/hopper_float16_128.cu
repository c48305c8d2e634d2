// Written by generate_instances.py: change the table there.
#include "../hopper/compiled.h"

namespace mezzotint {

static const Instance k_hopper_float16_128[] = {
    hopper_instance<float16, 128, HopperShape<2, 176>>(),
};

InstanceList list_hopper_float16_128() { return {k_hopper_float16_128, sizeof k_hopper_float16_128 / sizeof *k_hopper_float16_128}; }

}  // namespace mezzotint
