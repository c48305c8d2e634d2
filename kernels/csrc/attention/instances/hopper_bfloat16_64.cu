// Written by generate_instances.py: change the table there.
#include "../hopper/compiled.h"

namespace mezzotint {

static const Instance k_hopper_bfloat16_64[] = {
    hopper_instance<bfloat16, 64, HopperShape<3, 128>>(),
};

InstanceList list_hopper_bfloat16_64() { return {k_hopper_bfloat16_64, sizeof k_hopper_bfloat16_64 / sizeof *k_hopper_bfloat16_64}; }

}  // namespace mezzotint
