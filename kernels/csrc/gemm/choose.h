// Which kernel a product gets; host arithmetic only, so that it can be asked for cards that are not present.
#pragma once

#include "gemm.h"
#include "instance.h"

namespace mezzotint::gemm {

// The instance of that number in the order of the lists; null when there is none.
const Instance* instance_of(uint32_t number);

// Shared memory of a block on a device of that architecture.
int shared_bytes_on(const Instance& instance, int architecture);

// Whether the device can run the instance at all.
bool runs_on(const Instance& instance, const DeviceFacts& device);

// Cycles that the multiprocessor with the most to do needs for the product with that instance, about.
double cost_of(const Instance& instance, const MztLinearArgs& args, const DeviceFacts& device, int splits = 1);

// Tiles of the output, each the work of a block, or of as many as the columns of x are split among.
int64_t blocks_of(const Instance& instance, const MztLinearArgs& args);

// The parts of x's columns that cost least with an instance that splits them, as far as the workspace has room for sums;
// 1 with others, and where none of it costs less.
int splits_of(const Instance& instance, const MztLinearArgs& args, const DeviceFacts& device);

LinearParams linear_params(const Instance& instance, const MztLinearArgs& args, int splits = 1);

}  // namespace mezzotint::gemm
