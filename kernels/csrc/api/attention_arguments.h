// Validation of attention's arguments before any kernel sees them; host arithmetic only.
#pragma once

#include <cstring>

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

// Attention's arguments as they are, beside those of other entries.
inline const MztAttentionArgs& as_forward(const MztAttentionArgs& args) { return args; }

// What the arguments of other entries have in common with attention's, as those.
template <typename Args>
MztAttentionArgs shared_arguments(const Args& a) {
    MztAttentionArgs made{};
    made.size = sizeof made;
    made.abi = MZT_ABI_VERSION;
    made.dtype = a.dtype;
    made.batch = a.batch;
    made.heads = a.heads;
    made.kv_heads = a.kv_heads;
    made.nq = a.nq;
    made.nk = a.nk;
    made.head_dim = a.head_dim;
    made.q = a.q;
    made.k = a.k;
    made.v = a.v;
    made.out = const_cast<void*>(static_cast<const void*>(a.out));
    std::memcpy(made.q_stride, a.q_stride, sizeof made.q_stride);
    std::memcpy(made.k_stride, a.k_stride, sizeof made.k_stride);
    std::memcpy(made.v_stride, a.v_stride, sizeof made.v_stride);
    std::memcpy(made.out_stride, a.out_stride, sizeof made.out_stride);
    made.key_lengths = a.key_lengths;
    made.key_mask = a.key_mask;
    made.key_mask_stride = a.key_mask_stride;
    made.workspace = a.workspace;
    made.workspace_bytes = a.workspace_bytes;
    return made;
}

}  // namespace mezzotint
