#include "../instance.h"

namespace mezzotint::block_scaled {

InstanceList list_float16();
InstanceList list_bfloat16();

int instance_lists() { return 2; }

InstanceList instance_list(int number) {
    switch (number) {
        case 0: return list_float16();
        case 1: return list_bfloat16();
    }
    return {nullptr, 0};
}

}  // namespace mezzotint::block_scaled
