// Where the quantized copies lie in the workspace; host arithmetic only.
#pragma once

#include "../../api.h"
#include "params.h"

namespace mezzotint {

// The bytes that the copies take.
int64_t int8_workspace_bytes(const MztAttentionArgs& args);

// Parameters over args.workspace, but for `forward`.
Int8Params int8_params(const MztAttentionArgs& args);

// The blocks of the two passes before the main loop.
int64_t summarize_blocks(const Int8Params& params);
int64_t quantize_blocks(const Int8Params& params);

// The shared memory of either.
int int8_pass_shared_bytes(const Int8Params& params);

}  // namespace mezzotint
