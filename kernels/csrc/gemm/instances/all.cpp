#include "../instance.h"

namespace mezzotint::gemm {

InstanceList list_float16_int8();
InstanceList list_bfloat16_int8();
InstanceList list_float16_int4();
InstanceList list_bfloat16_int4();
InstanceList list_float16_w4a4();
InstanceList list_bfloat16_w4a4();
InstanceList list_float16_svdquant();
InstanceList list_bfloat16_svdquant();
InstanceList list_float16_codebook();
InstanceList list_bfloat16_codebook();
InstanceList list_float16_fp8();
InstanceList list_bfloat16_fp8();
InstanceList list_float16_gated();
InstanceList list_bfloat16_gated();
InstanceList list_float16_split();
InstanceList list_bfloat16_split();
InstanceList list_float16_convolution();
InstanceList list_bfloat16_convolution();

int instance_lists() { return 18; }

InstanceList instance_list(int number) {
    switch (number) {
        case 0: return list_float16_int8();
        case 1: return list_bfloat16_int8();
        case 2: return list_float16_int4();
        case 3: return list_bfloat16_int4();
        case 4: return list_float16_w4a4();
        case 5: return list_bfloat16_w4a4();
        case 6: return list_float16_svdquant();
        case 7: return list_bfloat16_svdquant();
        case 8: return list_float16_codebook();
        case 9: return list_bfloat16_codebook();
        case 10: return list_float16_fp8();
        case 11: return list_bfloat16_fp8();
        case 12: return list_float16_gated();
        case 13: return list_bfloat16_gated();
        case 14: return list_float16_split();
        case 15: return list_bfloat16_split();
        case 16: return list_float16_convolution();
        case 17: return list_bfloat16_convolution();
    }
    return {nullptr, 0};
}

}  // namespace mezzotint::gemm
