// Activations of feed-forward layers, for one number.
#pragma once

#include <math.h>

#include "primitives.h"

namespace mezzotint {

MZT_DEVICE float sigmoid(float x) {
    constexpr float kLog2E = 1.4426950408889634f;
    return reciprocal_approximate(1 + exp2_approximate(-kLog2E * x));
}

MZT_DEVICE float silu(float x) { return x * sigmoid(x); }

// x (1 + tanh(u)) / 2 is x sigmoid(2 u).
MZT_DEVICE float gelu_tanh(float x) {
    constexpr float kTwice = 1.5957691216057308f;  // 2 sqrt(2 / pi)
    return x * sigmoid(kTwice * (x + 0.044715f * x * x * x));
}

MZT_DEVICE float gelu(float x) {
    constexpr float kRootHalf = 0.7071067811865476f;
    return 0.5f * x * (1 + erff(kRootHalf * x));
}

}  // namespace mezzotint
