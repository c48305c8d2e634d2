// How rows are dealt out to blocks; host arithmetic only.
#pragma once

#include "params.h"
#include "quantize.h"

namespace mezzotint::quantize {

// Of arguments that were checked.
QuantizeParams quantize_params(const MztQuantizeArgs& args);

int threads_of(const QuantizeParams& params);
int shared_bytes_of(const MztQuantizeArgs& args);
int64_t blocks_of(const QuantizeParams& params);

}  // namespace mezzotint::quantize
