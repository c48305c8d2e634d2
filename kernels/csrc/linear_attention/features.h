// Feature maps of numbers in registers, two to a register.
#pragma once

#include "../linear_attention_api.h"
#include "../primitives.h"
#include "params.h"

namespace mezzotint::linear_attention {

// NaN stays NaN.
template <int map>
MZT_DEVICE float feature_of(float x) {
    if constexpr (map == MZT_RELU) return x < 0 ? 0 : x;
    if constexpr (map == MZT_ELU_PLUS_ONE) return x > 0 ? x + 1 : exp2_approximate(kLog2E * x);
    return x;
}

template <typename Element, int map>
MZT_DEVICE void map_features(uint32_t (&pairs)[4]) {
    if constexpr (map != MZT_IDENTITY) {
#pragma unroll
        for (uint32_t& pair : pairs) {
            pair = pack<Element>(feature_of<map>(low_number<Element>(pair)), feature_of<map>(high_number<Element>(pair)));
        }
    }
}

}  // namespace mezzotint::linear_attention
