#include "attention_arguments.h"

#include <cinttypes>
#include <cmath>
#include <cstring>

#include "last_error.h"
#include "table_arguments.h"

namespace mezzotint {

namespace {

constexpr uint32_t kKnownFlags = MZT_CAUSAL | MZT_INT8_SCORES | MZT_INT8_VALUES | MZT_HALF_SUMS | MZT_FP8_VALUES |
                                 MZT_WITHOUT_HOPPER;
constexpr int64_t kAlignment = 16;       // bytes; alignment of tensors and strides, which are read in this unit
// Limit of sizes, so that kernels can use 32-bit sizes and add two of them; offsets are 64-bit.
constexpr int64_t kLargest = 1000000000;
constexpr const char* kAxes[] = {"batch", "head", "token"};

using Tensor = AttentionTensor;

struct Tensors {
    Tensor each[4];
    const Tensor* begin() const { return each; }
    const Tensor* end() const { return each + 4; }
};

Tensors tensors_of(const MztAttentionArgs& a) {
    return {{{"q", a.q, a.q_stride, {a.batch, a.heads, a.nq}, false},
             {"k", a.k, a.k_stride, {a.batch, a.kv_heads, a.nk}, false},
             {"v", a.v, a.v_stride, {a.batch, a.kv_heads, a.nk}, false},
             {"out", a.out, a.out_stride, {a.batch, a.heads, a.nq}, true}}};
}

bool has_elements(const Tensor& tensor) { return tensor.sizes[0] && tensor.sizes[1] && tensor.sizes[2]; }

bool is_aligned(const void* pointer, int64_t bytes) { return reinterpret_cast<uintptr_t>(pointer) % bytes == 0; }

// Whether the byte offset of the last element's end exceeds 63 bits; sizes and strides are not negative.
bool overflows(const int64_t* sizes, const int64_t* strides, int axes, int64_t last, int64_t element_bytes) {
    int64_t room = INT64_MAX / element_bytes - last;
    for (int i = 0; i < axes; ++i) {
        if (sizes[i] <= 1 || strides[i] == 0) continue;
        if (strides[i] > room / (sizes[i] - 1)) return true;
        room -= strides[i] * (sizes[i] - 1);
    }
    return room < 0;
}

// Whether two elements of a tensor share an address: a stride is smaller than the extent of the smaller strides.
bool overlaps(const Tensor& tensor, int64_t head_dim) {
    int64_t reach = head_dim;
    bool done[3] = {};
    for (int round = 0; round < 3; ++round) {
        int next = -1;
        for (int i = 0; i < 3; ++i) {
            if (!done[i] && (next < 0 || tensor.strides[i] < tensor.strides[next])) next = i;
        }
        done[next] = true;
        if (tensor.sizes[next] <= 1) continue;
        if (tensor.strides[next] < reach) return true;
        reach += tensor.strides[next] * (tensor.sizes[next] - 1);
    }
    return false;
}

MztStatus check_flags(const MztAttentionArgs& a) {
    if (a.flags & ~kKnownFlags) {
        return fail(MZT_INVALID_ARGUMENT, "flags are 0x%x: this library knows 0x%x", a.flags, kKnownFlags);
    }
    if ((a.flags & MZT_INT8_VALUES) && !(a.flags & MZT_INT8_SCORES)) {
        return fail(MZT_INVALID_ARGUMENT, "flags are 0x%x: values in int8 need scores in int8, 0x%x", a.flags,
                    a.flags | MZT_INT8_SCORES);
    }
    if ((a.flags & MZT_FP8_VALUES) && (a.flags & (MZT_INT8_SCORES | MZT_INT8_VALUES)) != MZT_INT8_SCORES) {
        return fail(MZT_INVALID_ARGUMENT, "flags are 0x%x: values in fp8 need scores in int8, and no values in int8: 0x%x",
                    a.flags, (a.flags | MZT_INT8_SCORES) & ~static_cast<uint32_t>(MZT_INT8_VALUES));
    }
    if ((a.flags & MZT_HALF_SUMS) && (a.flags & MZT_INT8_SCORES)) {
        return fail(MZT_INVALID_ARGUMENT, "flags are 0x%x: those with scores in int8 have float16 sums anyway, give 0x%x",
                    a.flags, a.flags & ~static_cast<uint32_t>(MZT_HALF_SUMS));
    }
    if (a.dropout.kept > 256 || a.dropout.reserved) {
        return fail(MZT_INVALID_ARGUMENT, "dropout keeps %u of 256, and its reserved number is %u: give at most 256, and 0",
                    a.dropout.kept, a.dropout.reserved);
    }
    if (a.dtype > MZT_FLOAT32) {
        return fail(MZT_INVALID_ARGUMENT, "dtype is %u: give 0 (float16), 1 (bfloat16) or 2 (float32)", a.dtype);
    }
    if (a.bias && a.bias_dtype != MZT_FLOAT32 && a.bias_dtype != a.dtype) {
        return fail(MZT_INVALID_ARGUMENT, "bias_dtype is %u: give 2 (float32) or %u, that of q", a.bias_dtype, a.dtype);
    }
    return MZT_OK;
}

MztStatus check_sizes(const MztAttentionArgs& a) {
    const struct {
        const char* name;
        int64_t value, least;
    } sizes[] = {{"batch", a.batch, 0},       {"heads", a.heads, 1}, {"kv_heads", a.kv_heads, 1},
                 {"head_dim", a.head_dim, 1}, {"nq", a.nq, 0},       {"nk", a.nk, 0}};
    for (const auto& size : sizes) {
        if (size.value < size.least) {
            return fail(MZT_INVALID_ARGUMENT, "%s is %" PRId64 ": give %" PRId64 " or more", size.name, size.value,
                        size.least);
        }
    }
    if (a.heads % a.kv_heads) {
        return fail(MZT_INVALID_ARGUMENT, "heads is %" PRId64 ", no multiple of kv_heads, which is %" PRId64, a.heads,
                    a.kv_heads);
    }
    return MZT_OK;
}

MztStatus check_masks(const MztAttentionArgs& a) {
    if (!is_aligned(a.lse, sizeof(float))) {
        return fail(MZT_INVALID_ARGUMENT, "lse is %p: give an address that is a multiple of 4 bytes", (void*)a.lse);
    }
    if (!is_aligned(a.key_lengths, sizeof(int32_t))) {
        return fail(MZT_INVALID_ARGUMENT, "key_lengths is %p: give an address that is a multiple of 4 bytes",
                    (const void*)a.key_lengths);
    }
    if (a.key_mask && a.batch > 1) {
        if (a.key_mask_stride < 0 || overflows(&a.batch, &a.key_mask_stride, 1, a.nk, 1)) {
            return fail(MZT_INVALID_ARGUMENT, "key_mask_stride is %" PRId64 ": give nk, or 0 for the same mask everywhere",
                        a.key_mask_stride);
        }
    }
    return MZT_OK;
}

MztStatus check_bias(const MztAttentionArgs& a) {
    if (!a.bias) return MZT_OK;
    const int64_t bytes = a.bias_dtype == MZT_FLOAT32 ? 4 : 2;
    if (!is_aligned(a.bias, bytes)) {
        return fail(MZT_INVALID_ARGUMENT, "bias is %p: give an address that is a multiple of %" PRId64 " bytes", a.bias,
                    bytes);
    }
    const int64_t sizes[] = {a.batch, a.heads, a.nq, a.nk};
    for (int i = 0; i < 4; ++i) {
        if (sizes[i] > 1 && a.bias_stride[i] < 0) {
            return fail(MZT_INVALID_ARGUMENT, "bias_stride[%d] is %" PRId64 ": give 0 or more", i, a.bias_stride[i]);
        }
    }
    if (overflows(sizes, a.bias_stride, 4, 1, bytes)) {
        return fail(MZT_INVALID_ARGUMENT, "bias_stride is (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                    "): its last element's offset does not fit into 64 bits", a.bias_stride[0], a.bias_stride[1],
                    a.bias_stride[2], a.bias_stride[3]);
    }
    return MZT_OK;
}

}  // namespace

MztStatus check_version(const void* structure, uint32_t size, const char* what) {
    if (!structure) return fail(MZT_INVALID_ARGUMENT, "%s is null: give a pointer to the struct", what);
    uint32_t seen[2];  // its size and version, whatever it actually is
    std::memcpy(seen, structure, sizeof seen);
    if (seen[0] == size && seen[1] == MZT_ABI_VERSION) return MZT_OK;
    return fail(MZT_ABI_MISMATCH, "%s has %u bytes of version %u, and this library (%s) takes %u bytes of version %u: "
                "install a matching pair", what, seen[0], seen[1], mzt_version(), size, MZT_ABI_VERSION);
}

MztStatus check_tensor(const Tensor& tensor, int64_t head_dim, Purpose purpose) {
    if (!has_elements(tensor)) return MZT_OK;
    if (purpose == Purpose::launch && !tensor.pointer) {
        return fail(MZT_INVALID_ARGUMENT, "%s is null: give a pointer to device memory", tensor.name);
    }
    for (int i = 0; i < 3; ++i) {
        if (tensor.sizes[i] > 1 && tensor.strides[i] < 0) {
            return fail(MZT_INVALID_ARGUMENT, "%s_stride[%d] (%s) is %" PRId64 ": give 0 or more", tensor.name, i,
                        kAxes[i], tensor.strides[i]);
        }
    }
    if (overflows(tensor.sizes, tensor.strides, 3, head_dim, 4)) {
        return fail(MZT_INVALID_ARGUMENT, "%s_stride is (%" PRId64 ", %" PRId64 ", %" PRId64
                    "): its last element's offset does not fit into 64 bits", tensor.name, tensor.strides[0],
                    tensor.strides[1], tensor.strides[2]);
    }
    if (tensor.written && overlaps(tensor, head_dim)) {
        return fail(MZT_INVALID_ARGUMENT, "%s_stride is (%" PRId64 ", %" PRId64 ", %" PRId64
                    "): elements overlap; give memory of its own to each", tensor.name, tensor.strides[0],
                    tensor.strides[1], tensor.strides[2]);
    }
    return MZT_OK;
}

// The kernels read and write 16 bytes at a time.
MztStatus check_alignment(const Tensor& tensor, int64_t element_bytes) {
    if (!is_aligned(tensor.pointer, kAlignment)) {
        return fail(MZT_UNSUPPORTED, "%s is %p, no multiple of 16 bytes: copy it, or use another implementation",
                    tensor.name, tensor.pointer);
    }
    for (int i = 0; i < 3; ++i) {
        // The stride of an axis of size 1 is unused, and torch may leave any value there.
        if (tensor.sizes[i] > 1 && tensor.strides[i] % (kAlignment / element_bytes)) {
            return fail(MZT_UNSUPPORTED, "%s_stride[%d] (%s) is %" PRId64
                        " elements, no multiple of 16 bytes: copy it, or use another implementation", tensor.name, i,
                        kAxes[i], tensor.strides[i]);
        }
    }
    return MZT_OK;
}

MztStatus find_mistake(const MztAttentionArgs& args, Purpose purpose) {
    if (const MztStatus status = check_flags(args)) return status;
    if (const MztStatus status = check_sizes(args)) return status;
    if (!std::isfinite(args.scale)) {
        return fail(MZT_INVALID_ARGUMENT, "scale is %g: give a finite number", static_cast<double>(args.scale));
    }
    for (const Tensor& tensor : tensors_of(args)) {
        if (const MztStatus status = check_tensor(tensor, args.head_dim, purpose)) return status;
    }
    if (const MztStatus status = check_masks(args)) return status;
    if (const MztStatus status = check_bias(args)) return status;
    return args.table ? check_table(*args.table, args, {"queries", args.nq}, purpose) : MZT_OK;
}

MztStatus find_unsupported(const MztAttentionArgs& args) {
    if (args.dtype == MZT_FLOAT32) return fail(MZT_UNSUPPORTED, "dtype is float32: the kernels take float16 and bfloat16");
    if (args.table && args.dropout.kept) {
        return fail(MZT_UNSUPPORTED, "dropout and a table are given: the kernels take one of them");
    }
    if (!(args.scale > 0)) {
        return fail(MZT_UNSUPPORTED, "scale is %g: the kernels take positive ones", static_cast<double>(args.scale));
    }
    const struct {
        const char* name;
        int64_t value;
    } sizes[] = {{"nq", args.nq}, {"nk", args.nk}, {"head_dim", args.head_dim}, {"batch", args.batch},
                 {"heads", args.heads}};
    for (const auto& size : sizes) {
        if (size.value > kLargest) {
            return fail(MZT_UNSUPPORTED, "%s is %" PRId64 ": the kernels take up to %" PRId64, size.name, size.value,
                        kLargest);
        }
    }
    for (const Tensor& tensor : tensors_of(args)) {
        if (!has_elements(tensor)) continue;
        if (const MztStatus status = check_alignment(tensor, sizeof(uint16_t))) return status;
    }
    return MZT_OK;
}

bool is_empty(const MztAttentionArgs& args) { return args.batch == 0 || args.nq == 0; }

MztStatus check_workspace(const MztAttentionArgs& args, int64_t needed) {
    if (needed == 0) return MZT_OK;
    if (!args.workspace || args.workspace_bytes < needed) {
        return fail(MZT_WORKSPACE_TOO_SMALL, "workspace is %p of %" PRId64 " bytes: this needs %" PRId64
                    " bytes of device memory", args.workspace, args.workspace_bytes, needed);
    }
    if (!is_aligned(args.workspace, kAlignment)) {
        return fail(MZT_INVALID_ARGUMENT, "workspace is %p: give an address that is a multiple of 16 bytes",
                    args.workspace);
    }
    return MZT_OK;
}

}  // namespace mezzotint
