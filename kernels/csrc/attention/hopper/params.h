// What Hopper's forward kernel is told when it runs.
#pragma once

#include "../../tensor_map.h"
#include "../params.h"

namespace mezzotint {

// Rows of a tile lie in panels of so many columns, as wide as the hardware exchanges chunks within.
constexpr int panel_columns(int head_dim) { return head_dim % 64 == 0 ? 64 : 32; }

struct HopperParams {
    TensorMap q, k, v;
    ForwardParams forward;
    uint32_t tiles;    // of queries, of all heads and batches
    int32_t head_dim;  // that of the tensors, of which the kernel's may be larger: columns beyond it are zeros
};

}  // namespace mezzotint
