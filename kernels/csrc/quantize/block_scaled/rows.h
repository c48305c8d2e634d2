// The compiled kernels: one for each number format, preparation and block-scaled format; and how they are queued.
#pragma once

#include "../../block_scaled_api.h"
#include "../params.h"
#include "../rows.h"

namespace mezzotint {

namespace quantize {

Entry block_scaled_entry_of(uint32_t dtype, uint32_t preparation, uint32_t format);

// Of arguments that were checked.
QuantizeParams block_scaled_quantize_params(const MztBlockScaledQuantizeArgs& args);

}  // namespace quantize

// Queue the kernel; returns a cudaError_t (0: queued).
int launch_block_scaled_quantize(const MztBlockScaledQuantizeArgs& args, void* stream);

}  // namespace mezzotint
