#include "linear_attention_arguments.h"

#include <cinttypes>
#include <cmath>

#include "last_error.h"

namespace mezzotint {

namespace {

// Those whose rows are features.
struct Tensors {
    AttentionTensor each[2];
    const AttentionTensor* begin() const { return each; }
    const AttentionTensor* end() const { return each + 2; }
};

Tensors features_of(const MztLinearAttentionArgs& a) {
    return {{{"q", a.q, a.q_stride, {a.batch, a.heads, a.nq}, false},
             {"k", a.k, a.k_stride, {a.batch, a.kv_heads, a.nk}, false}}};
}

MztStatus check_numbers(const MztLinearAttentionArgs& a) {
    if (a.map > MZT_ELU_PLUS_ONE) {
        return fail(MZT_INVALID_ARGUMENT, "map is %u: give 0 (identity), 1 (relu) or 2 (elu + 1)", a.map);
    }
    if (a.features < 1) {
        return fail(MZT_INVALID_ARGUMENT, "features is %" PRId64 ": give 1 or more", a.features);
    }
    if (a.divided > 1 || a.reserved) {
        return fail(MZT_INVALID_ARGUMENT, "divided is %u, and the reserved number is %u: give 0 or 1, and 0", a.divided,
                    a.reserved);
    }
    if (std::isnan(a.least) || a.least == INFINITY || !std::isfinite(a.epsilon)) {
        return fail(MZT_INVALID_ARGUMENT, "least is %g and epsilon is %g: give finite numbers, or -infinity for least",
                    static_cast<double>(a.least), static_cast<double>(a.epsilon));
    }
    return MZT_OK;
}

}  // namespace

MztAttentionArgs as_forward(const MztLinearAttentionArgs& a) {
    MztAttentionArgs made = shared_arguments(a);
    made.scale = 1;
    return made;
}

MztStatus find_mistake(const MztLinearAttentionArgs& args, Purpose purpose) {
    if (const MztStatus status = find_mistake(as_forward(args), purpose)) return status;
    if (const MztStatus status = check_numbers(args)) return status;
    for (const AttentionTensor& tensor : features_of(args)) {
        if (const MztStatus status = check_tensor(tensor, args.features, purpose)) return status;
    }
    return MZT_OK;
}

MztStatus find_unsupported(const MztLinearAttentionArgs& args) {
    if (const MztStatus status = find_unsupported(as_forward(args))) return status;
    if (args.features % 8 || args.head_dim % 8) {
        return fail(MZT_UNSUPPORTED, "features is %" PRId64 " and head_dim is %" PRId64
                    ": the kernels take multiples of 8", args.features, args.head_dim);
    }
    return MZT_OK;
}

bool is_empty(const MztLinearAttentionArgs& args) { return is_empty(as_forward(args)); }

}  // namespace mezzotint
