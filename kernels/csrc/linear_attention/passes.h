// The compiled kernels: three passes for each number format and feature map.
#pragma once

#include "../attention/instance.h"

namespace mezzotint::linear_attention {

struct Passes {
    Entry summarize, join, apply;
};

Passes passes_of(uint32_t dtype, uint32_t map);
#ifdef MEZZOTINT_EMULATOR
Passes turing_passes_of(uint32_t dtype, uint32_t map);
#endif

}  // namespace mezzotint::linear_attention
