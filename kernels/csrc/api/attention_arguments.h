// What attention's arguments must be before any kernel sees them; host arithmetic only.
#pragma once

#include "../api.h"

namespace mezzotint {

enum class Purpose {
    plan,   // null tensors are well: only what is known of them is looked at
    launch
};

// A struct of this very version; null or of another version is told so. `what` names the argument.
MztStatus check_version(const void* structure, uint32_t size, const char* what);

// A caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztAttentionArgs& args, Purpose purpose);

// Well formed, but not for any kernel of ours (strides, alignment, sizes, scale): MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztAttentionArgs& args);

// Whether there is nothing to compute and nothing to write.
bool is_empty(const MztAttentionArgs& args);

// The workspace that was handed in against what the plan asks for.
MztStatus check_workspace(const MztAttentionArgs& args, int64_t needed);

}  // namespace mezzotint
