#include "backward_arguments.h"

#include "last_error.h"
#include "table_arguments.h"

namespace mezzotint {

namespace {

constexpr uint32_t kKnownFlags = MZT_CAUSAL | MZT_UNORDERED;

// The tensors that the forward does not have.
struct Tensors {
    AttentionTensor each[4];
    const AttentionTensor* begin() const { return each; }
    const AttentionTensor* end() const { return each + 4; }
};

Tensors tensors_of(const MztAttentionBackwardArgs& a) {
    return {{{"out_gradient", a.out_gradient, a.out_gradient_stride, {a.batch, a.heads, a.nq}, false},
             {"dq", a.dq, a.dq_stride, {a.batch, a.heads, a.nq}, true},
             {"dk", a.dk, a.dk_stride, {a.batch, a.kv_heads, a.nk}, true},
             {"dv", a.dv, a.dv_stride, {a.batch, a.kv_heads, a.nk}, true}}};
}

MztStatus check_lse(const MztAttentionBackwardArgs& a, Purpose purpose) {
    if (purpose == Purpose::launch && !a.lse && a.batch > 0 && a.nq > 0) {
        return fail(MZT_INVALID_ARGUMENT, "lse is null: give a pointer to the forward's logarithms of sums");
    }
    if (reinterpret_cast<uintptr_t>(a.lse_gradient) % sizeof(float)) {
        return fail(MZT_INVALID_ARGUMENT, "lse_gradient is %p: give an address that is a multiple of 4 bytes",
                    static_cast<const void*>(a.lse_gradient));
    }
    return MZT_OK;
}

}  // namespace

MztAttentionArgs as_forward(const MztAttentionBackwardArgs& a) {
    MztAttentionArgs made = shared_arguments(a);
    made.flags = a.flags & MZT_CAUSAL;
    made.lse = const_cast<float*>(a.lse);
    made.scale = a.scale;
    made.dropout = a.dropout;
    return made;
}

MztStatus find_mistake(const MztAttentionBackwardArgs& args, Purpose purpose) {
    if (args.flags & ~kKnownFlags) {
        return fail(MZT_INVALID_ARGUMENT, "flags are 0x%x: the backward pass knows 0x%x", args.flags, kKnownFlags);
    }
    if (const MztStatus status = find_mistake(as_forward(args), purpose)) return status;
    for (const AttentionTensor& tensor : tensors_of(args)) {
        if (const MztStatus status = check_tensor(tensor, args.head_dim, purpose)) return status;
    }
    if (const MztStatus status = check_lse(args, purpose)) return status;
    return args.table ? check_table(*args.table, as_forward(args), {"keys", args.nk}, purpose) : MZT_OK;
}

MztStatus find_unsupported(const MztAttentionBackwardArgs& args) {
    MztAttentionArgs forward = as_forward(args);
    forward.table = args.table;  // only whether there is one
    if (const MztStatus status = find_unsupported(forward)) return status;
    for (const AttentionTensor& tensor : tensors_of(args)) {
        if (tensor.sizes[0] == 0 || tensor.sizes[2] == 0) continue;
        if (const MztStatus status = check_alignment(tensor, sizeof(uint16_t))) return status;
    }
    return MZT_OK;
}

bool is_empty(const MztAttentionBackwardArgs& args) { return args.batch == 0 || (args.nq == 0 && args.nk == 0); }

}  // namespace mezzotint
