// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_bfloat16_64[] = {
    instance<bfloat16, 64, Shape<2, 4, 64, 2, true>, false>(),
    instance<bfloat16, 64, Shape<1, 4, 64, 2, true>, false>(),
    instance<bfloat16, 64, Shape<1, 4, 64, 2, true>, true>(),
    short_instance<bfloat16, 64, 4, 80>(),
    short_instance<bfloat16, 64, 4, 128>(),
    int8_instance<bfloat16, 64, Shape<1, 8, 64, 2, true>, false>(),
    int8_instance<bfloat16, 64, Shape<1, 4, 64, 2, true>, false>(),
    int8_instance<bfloat16, 64, Shape<1, 4, 64, 2, true>, true>(),
    int8_all_instance<bfloat16, 64, Shape<1, 12, 64, 2, true>>(),
    int8_all_instance<bfloat16, 64, Shape<1, 4, 64, 2, true>>(),
    half_sums_instance<bfloat16, 64, Shape<1, 8, 64, 2, true>, false>(),
    half_sums_instance<bfloat16, 64, Shape<1, 4, 64, 2, true>, false>(),
    half_sums_instance<bfloat16, 64, Shape<1, 4, 64, 2, true>, true>(),
    int8_fp8_instance<bfloat16, 64, Shape<1, 8, 64, 2, true>>(),
    int8_fp8_instance<bfloat16, 64, Shape<1, 4, 64, 2, true>>(),
};

InstanceList list_bfloat16_64() { return {k_bfloat16_64, sizeof k_bfloat16_64 / sizeof *k_bfloat16_64}; }

}  // namespace mezzotint
