// Which kernel a block-scaled product gets; host arithmetic only.
#pragma once

#include "block_scaled.h"
#include "instance.h"
#include "params.h"

namespace mezzotint::block_scaled {

// The instance of that number in the order of the lists; null when there is none.
const Instance* instance_of(uint32_t number);

BlockScaledParams block_scaled_params(const Instance& instance, const MztBlockScaledLinearArgs& args);

}  // namespace mezzotint::block_scaled
