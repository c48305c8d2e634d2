// The compiled kernels: three passes for each number format.
#pragma once

#include "../attention/instance.h"

namespace mezzotint::group_norm {

struct Passes {
    Entry measure, join, normalize;
};

Passes passes_of(uint32_t dtype, bool silu);

}  // namespace mezzotint::group_norm
