// Written by generate_instances.py: change the table there.
#include "../compiled.h"

namespace mezzotint {

static const Instance k_bfloat16_128[] = {
    instance<bfloat16, 128, Shape<2, 4, 32, 2, false>, false>(),
    instance<bfloat16, 128, Shape<1, 8, 64, 2, true>, false>(),
    instance<bfloat16, 128, Shape<1, 4, 64, 2, true>, false>(),
    instance<bfloat16, 128, Shape<1, 4, 64, 2, true>, true>(),
    short_instance<bfloat16, 128, 4, 80>(),
    short_instance<bfloat16, 128, 4, 128>(),
    int8_instance<bfloat16, 128, Shape<1, 8, 64, 2, true>, false>(),
    int8_instance<bfloat16, 128, Shape<1, 4, 64, 2, true>, false>(),
    int8_instance<bfloat16, 128, Shape<1, 4, 64, 2, true>, true>(),
    int8_all_instance<bfloat16, 128, Shape<1, 8, 64, 2, true>>(),
    int8_all_instance<bfloat16, 128, Shape<1, 4, 64, 2, true>>(),
    half_sums_instance<bfloat16, 128, Shape<1, 8, 64, 2, true>, false>(),
    half_sums_instance<bfloat16, 128, Shape<1, 4, 64, 2, true>, false>(),
    half_sums_instance<bfloat16, 128, Shape<1, 4, 64, 2, true>, true>(),
    int8_fp8_instance<bfloat16, 128, Shape<1, 8, 64, 2, true>>(),
    int8_fp8_instance<bfloat16, 128, Shape<1, 4, 64, 2, true>>(),
};

InstanceList list_bfloat16_128() { return {k_bfloat16_128, sizeof k_bfloat16_128 / sizeof *k_bfloat16_128}; }

}  // namespace mezzotint
