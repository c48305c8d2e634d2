// Written by generate_instances.py: change the table there.
#include "../hopper/compiled.h"

namespace mezzotint {

static const Instance k_hopper_float16_256[] = {
    hopper_instance<float16, 256, HopperShape<2, 80>>(),
};

InstanceList list_hopper_float16_256() { return {k_hopper_float16_256, sizeof k_hopper_float16_256 / sizeof *k_hopper_float16_256}; }

}  // namespace mezzotint
