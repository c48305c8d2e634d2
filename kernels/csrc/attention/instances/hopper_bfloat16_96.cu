// Written by generate_instances.py: change the table there.
#include "../hopper/compiled.h"

namespace mezzotint {

static const Instance k_hopper_bfloat16_96[] = {
    hopper_instance<bfloat16, 96, HopperShape<2, 176>>(),
};

InstanceList list_hopper_bfloat16_96() { return {k_hopper_bfloat16_96, sizeof k_hopper_bfloat16_96 / sizeof *k_hopper_bfloat16_96}; }

}  // namespace mezzotint
