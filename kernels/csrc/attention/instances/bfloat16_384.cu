// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_bfloat16_384[] = {
    instance<bfloat16, 384, Shape<1, 4, 32, 1, false>, false, 192>(),
    instance<bfloat16, 384, Shape<1, 2, 32, 1, false>, false, 192>(),
    instance<bfloat16, 384, Shape<1, 4, 32, 1, false>, true, 192>(),
};

InstanceList list_bfloat16_384() { return {k_bfloat16_384, sizeof k_bfloat16_384 / sizeof *k_bfloat16_384}; }

}  // namespace mezzotint
