// Written by generate_instances.py: change the table there.
#include "../instance.h"

namespace mezzotint {

InstanceList list_float16_32();
InstanceList list_bfloat16_32();
InstanceList list_float16_40();
InstanceList list_bfloat16_40();
InstanceList list_float16_64();
InstanceList list_bfloat16_64();
InstanceList list_float16_72();
InstanceList list_bfloat16_72();
InstanceList list_float16_80();
InstanceList list_bfloat16_80();
InstanceList list_float16_88();
InstanceList list_bfloat16_88();
InstanceList list_float16_96();
InstanceList list_bfloat16_96();
InstanceList list_float16_112();
InstanceList list_bfloat16_112();
InstanceList list_float16_128();
InstanceList list_bfloat16_128();
InstanceList list_float16_160();
InstanceList list_bfloat16_160();
InstanceList list_float16_256();
InstanceList list_bfloat16_256();
InstanceList list_float16_384();
InstanceList list_bfloat16_384();
InstanceList list_float16_512();
InstanceList list_bfloat16_512();
InstanceList list_hopper_float16_64();
InstanceList list_hopper_bfloat16_64();
InstanceList list_hopper_float16_96();
InstanceList list_hopper_bfloat16_96();
InstanceList list_hopper_float16_128();
InstanceList list_hopper_bfloat16_128();
InstanceList list_hopper_float16_192();
InstanceList list_hopper_bfloat16_192();
InstanceList list_hopper_float16_256();
InstanceList list_hopper_bfloat16_256();

int instance_lists() { return 36; }

InstanceList instance_list(int number) {
    switch (number) {
        case 0: return list_float16_32();
        case 1: return list_bfloat16_32();
        case 2: return list_float16_40();
        case 3: return list_bfloat16_40();
        case 4: return list_float16_64();
        case 5: return list_bfloat16_64();
        case 6: return list_float16_72();
        case 7: return list_bfloat16_72();
        case 8: return list_float16_80();
        case 9: return list_bfloat16_80();
        case 10: return list_float16_88();
        case 11: return list_bfloat16_88();
        case 12: return list_float16_96();
        case 13: return list_bfloat16_96();
        case 14: return list_float16_112();
        case 15: return list_bfloat16_112();
        case 16: return list_float16_128();
        case 17: return list_bfloat16_128();
        case 18: return list_float16_160();
        case 19: return list_bfloat16_160();
        case 20: return list_float16_256();
        case 21: return list_bfloat16_256();
        case 22: return list_float16_384();
        case 23: return list_bfloat16_384();
        case 24: return list_float16_512();
        case 25: return list_bfloat16_512();
        case 26: return list_hopper_float16_64();
        case 27: return list_hopper_bfloat16_64();
        case 28: return list_hopper_float16_96();
        case 29: return list_hopper_bfloat16_96();
        case 30: return list_hopper_float16_128();
        case 31: return list_hopper_bfloat16_128();
        case 32: return list_hopper_float16_192();
        case 33: return list_hopper_bfloat16_192();
        case 34: return list_hopper_float16_256();
        case 35: return list_hopper_bfloat16_256();
    }
    return {nullptr, 0};
}

}  // namespace mezzotint
