// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_bfloat16_512[] = {
    instance<bfloat16, 512, Shape<1, 4, 32, 1, false>, false, 256>(),
    instance<bfloat16, 512, Shape<1, 4, 16, 1, false>, false, 256>(),
    instance<bfloat16, 512, Shape<1, 2, 16, 1, false>, false, 256>(),
    instance<bfloat16, 512, Shape<1, 4, 16, 1, false>, true, 256>(),
};

InstanceList list_bfloat16_512() { return {k_bfloat16_512, sizeof k_bfloat16_512 / sizeof *k_bfloat16_512}; }

}  // namespace mezzotint
