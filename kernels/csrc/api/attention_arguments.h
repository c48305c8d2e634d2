// Validation of attention's arguments before any kernel sees them; host arithmetic only.
#pragma once

#include "../api.h"

namespace mezzotint {

enum class Purpose {
    plan,   // null tensors are allowed: only known fields are checked
    launch
};

// A tensor of (batch, heads, tokens, head_dim), with its strides.
struct AttentionTensor {
    const char* name;
    const void* pointer;
    const int64_t* strides;
    int64_t sizes[3];
    bool written;
};

// Find a mistake in a tensor, and whether its rows are aligned as the kernels need them.
MztStatus check_tensor(const AttentionTensor& tensor, int64_t head_dim, Purpose purpose);
MztStatus check_alignment(const AttentionTensor& tensor, int64_t element_bytes);

// Check for a struct of exactly this version; null and other versions are reported. `what` names the argument.
MztStatus check_version(const void* structure, uint32_t size, const char* what);

// Find a caller's mistake: MZT_INVALID_ARGUMENT with its message.
MztStatus find_mistake(const MztAttentionArgs& args, Purpose purpose);

// Find valid arguments that no kernel supports (strides, alignment, sizes, scale): MZT_UNSUPPORTED with its message.
MztStatus find_unsupported(const MztAttentionArgs& args);

// Whether there is nothing to compute and nothing to write.
bool is_empty(const MztAttentionArgs& args);

// Check the given workspace against the plan's requirement.
MztStatus check_workspace(const MztAttentionArgs& args, int64_t needed);

}  // namespace mezzotint
