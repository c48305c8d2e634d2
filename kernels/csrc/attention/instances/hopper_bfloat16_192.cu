// Written by generate_instances.py: change the table there.
#include "../hopper/compiled.h"

namespace mezzotint {

static const Instance k_hopper_bfloat16_192[] = {
    hopper_instance<bfloat16, 192, HopperShape<2, 112>>(),
};

InstanceList list_hopper_bfloat16_192() { return {k_hopper_bfloat16_192, sizeof k_hopper_bfloat16_192 / sizeof *k_hopper_bfloat16_192}; }

}  // namespace mezzotint
