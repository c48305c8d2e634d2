#include "arguments.h"

#include <cinttypes>
#include <initializer_list>

#include "../../api/last_error.h"
#include "../plan.h"

namespace mezzotint {

namespace {

constexpr int64_t kMostPixels = 1 << 28, kMostChannels = 1 << 20;  // 32-bit counts in kernels and grids
constexpr int64_t kMostBlocks = INT32_MAX;

struct Size {
    const char* name;
    int64_t value, least, most;
};

// A tensor's strides between batches and pixels.
struct Strides {
    const char* name;
    const void* pointer;
    const int64_t* strides;
};

bool is_aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }

// A single pixel's or batch's stride is unused, and torch may leave any value there.
MztStatus check_strides(const Strides& tensor, const MztGroupNormArgs& a) {
    if (!tensor.pointer) return fail(MZT_INVALID_ARGUMENT, "%s is null: give a pointer to device memory", tensor.name);
    const int64_t counts[] = {a.batch, a.pixels};
    for (int each = 0; each < 2; ++each) {
        const int64_t stride = tensor.strides[each];
        if (counts[each] > 1 && (stride < a.channels || stride > INT64_MAX / 8 / counts[each])) {
            return fail(MZT_INVALID_ARGUMENT, "%s_stride[%d] is %" PRId64 " and channels %" PRId64
                        ": give at least channels, and at most 2^60 in all", tensor.name, each, stride, a.channels);
        }
    }
    return MZT_OK;
}

MztStatus check_tensor(const Strides& tensor, const MztGroupNormArgs& a) {
    const int64_t batch = a.batch > 1 ? tensor.strides[0] : 0, pixel = a.pixels > 1 ? tensor.strides[1] : 0;
    if (is_aligned(tensor.pointer) && batch % 8 == 0 && pixel % 8 == 0) return MZT_OK;
    return fail(MZT_UNSUPPORTED, "%s is %p with strides %" PRId64 " and %" PRId64
                ", no multiples of 16 bytes: copy it, or use another implementation", tensor.name, tensor.pointer,
                batch, pixel);
}

}  // namespace

MztStatus find_mistake(const MztGroupNormArgs& a) {
    if (a.dtype > MZT_FLOAT32) {
        return fail(MZT_INVALID_ARGUMENT, "dtype is %u: give 0 (float16), 1 (bfloat16) or 2 (float32)", a.dtype);
    }
    if (a.silu > 1 || a.reserved) {
        return fail(MZT_INVALID_ARGUMENT, "silu is %u, and the reserved number is %u: give 0 or 1, and 0", a.silu,
                    a.reserved);
    }
    for (const Size& size : {Size{"batch", a.batch, 0, 0}, Size{"pixels", a.pixels, 0, 0},
                             Size{"channels", a.channels, 1, 0}, Size{"groups", a.groups, 1, 0}}) {
        if (size.value < size.least) {
            return fail(MZT_INVALID_ARGUMENT, "%s is %" PRId64 ": give %" PRId64 " or more", size.name, size.value,
                        size.least);
        }
    }
    if (a.channels % a.groups) {
        return fail(MZT_INVALID_ARGUMENT, "channels is %" PRId64 " and groups %" PRId64
                    ": give groups that divide channels", a.channels, a.groups);
    }
    // Written so that NaN is rejected.
    if (!(a.epsilon >= 0 && a.epsilon <= 3.4e38f)) {
        return fail(MZT_INVALID_ARGUMENT, "epsilon is %g: give a number of 0 or more", static_cast<double>(a.epsilon));
    }
    return MZT_OK;
}

MztStatus find_launch_mistake(const MztGroupNormArgs& a) {
    for (const Strides& tensor : {Strides{"x", a.x, a.x_stride}, Strides{"out", a.out, a.out_stride}}) {
        if (const MztStatus status = check_strides(tensor, a)) return status;
    }
    const int64_t needed = group_norm::workspace_bytes(a);
    if (a.workspace && a.workspace_bytes >= needed) return MZT_OK;
    return fail(MZT_WORKSPACE_TOO_SMALL, "workspace is %p with %" PRId64 " bytes: give %" PRId64, a.workspace,
                a.workspace_bytes, needed);
}

MztStatus find_unsupported(const MztGroupNormArgs& a) {
    if (a.dtype == MZT_FLOAT32) return fail(MZT_UNSUPPORTED, "dtype is float32: the kernels take float16 and bfloat16");
    if (a.channels % 8) {
        return fail(MZT_UNSUPPORTED, "channels is %" PRId64 ", no multiple of 8: use another implementation",
                    a.channels);
    }
    for (const Size& size : {Size{"pixels", a.pixels, 0, kMostPixels}, Size{"channels", a.channels, 0, kMostChannels},
                             Size{"batch", a.batch, 0, kMostPixels}}) {
        if (size.value > size.most) {
            return fail(MZT_UNSUPPORTED, "%s is %" PRId64 ": the kernels take up to %" PRId64, size.name, size.value,
                        size.most);
        }
    }
    const int64_t blocks = a.batch && a.pixels ? group_norm::blocks_of(a) : 0;
    if (blocks > kMostBlocks || a.batch * a.groups > kMostBlocks) {
        return fail(MZT_UNSUPPORTED, "batch is %" PRId64 " and pixels %" PRId64 ": more than a launch can count",
                    a.batch, a.pixels);
    }
    return MZT_OK;
}

MztStatus find_unaligned(const MztGroupNormArgs& a) {
    for (const Strides& tensor : {Strides{"x", a.x, a.x_stride}, Strides{"out", a.out, a.out_stride}}) {
        if (const MztStatus status = check_tensor(tensor, a)) return status;
    }
    if (is_aligned(a.workspace)) return MZT_OK;
    return fail(MZT_UNSUPPORTED, "workspace is %p, no multiple of 16 bytes: give an aligned one", a.workspace);
}

}  // namespace mezzotint
