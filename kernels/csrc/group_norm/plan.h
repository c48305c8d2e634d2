// In how many segments the pixels are read, and where the workspace's parts lie; host arithmetic only.
#pragma once

#include "../group_norm_api.h"
#include "params.h"

namespace mezzotint::group_norm {

int64_t workspace_bytes(const MztGroupNormArgs& args);

// Parameters over args.workspace.
GroupNormParams params_of(const MztGroupNormArgs& args);

// Blocks of the first and third pass; the second has one for each group of each batch.
int64_t blocks_of(const MztGroupNormArgs& args);

}  // namespace mezzotint::group_norm
