// Validation of the arguments of block-scaled quantization and products.
#pragma once

#include "../../../block_scaled_api.h"

namespace mezzotint {

// A caller's mistake, if there is one.
MztStatus find_mistake(const MztBlockScaledQuantizeArgs& args);
MztStatus find_mistake(const MztBlockScaledLinearArgs& args);

// What is well formed, but not supported on any device.
MztStatus find_unsupported(const MztBlockScaledQuantizeArgs& args);
MztStatus find_unsupported(const MztBlockScaledLinearArgs& args);

}  // namespace mezzotint
