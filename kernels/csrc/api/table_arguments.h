// Validation of a block table before any kernel sees it; host arithmetic only.
#pragma once

#include "../api.h"
#include "attention_arguments.h"

namespace mezzotint {

// Which tokens a table's rows are of.
struct RowTokens {
    const char* name;
    int64_t count;
};

// Find a caller's mistake in the table of valid arguments: MZT_INVALID_ARGUMENT or MZT_ABI_MISMATCH with its message.
MztStatus check_table(const MztBlockTable& table, const MztAttentionArgs& args, const RowTokens& tokens, Purpose purpose);

}  // namespace mezzotint
