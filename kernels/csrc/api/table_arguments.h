// Validation of a block table before any kernel sees it; host arithmetic only.
#pragma once

#include "../api.h"
#include "attention_arguments.h"

namespace mezzotint {

// Find a caller's mistake in the table of valid arguments: MZT_INVALID_ARGUMENT or MZT_ABI_MISMATCH with its message.
MztStatus check_table(const MztBlockTable& table, const MztAttentionArgs& args, Purpose purpose);

}  // namespace mezzotint
