#include "linear_arguments.h"

#include <cinttypes>

#include "../gemm/gemm.h"
#include "last_error.h"

namespace mezzotint {

namespace {

constexpr int64_t kAlignment = 16;  // bytes; alignment of matrices and rows, which are accessed in this unit
// Limit of sizes, so that kernels can use 32-bit sizes and add two of them; offsets are 64-bit.
constexpr int64_t kLargest = 1000000000;
constexpr int64_t kDeepest = INT32_MAX / (128 * 128);  // columns of x whose sum of products surely fits into 32 bits
constexpr int64_t kHighestRank = 256;
constexpr int64_t kPartColumns = 64;  // of which the columns of a part are a multiple: the narrowest tile's
constexpr int64_t kGroup = 64;  // columns that share a group scale
constexpr int64_t kCodebookGroup = 16;  // with a codebook
constexpr int64_t kTaps = 9;            // of a convolution
constexpr int64_t kLongestEdge = INT16_MAX;  // of its images

// A matrix with its row stride; `columns` and the stride count elements of `element` bytes.
struct Matrix {
    const char* name;
    const void* pointer;
    int64_t rows, columns, stride, element;
    const char* unit;
    bool in_chunks;  // accessed 16 bytes at a time
    bool optional;   // may be null
};

struct Matrices {
    Matrix each[10];
    const Matrix* begin() const { return each; }
    const Matrix* end() const { return each + 10; }
};

bool has_branch(const MztLinearArgs& a) { return a.rank > 0 && a.branch_x; }

bool has_groups(const MztLinearArgs& a) { return a.weight_bits == 4 && a.x_bits == 8; }

// Whether both sides have scales by group, instead of by row.
bool is_grouped(const MztLinearArgs& a) { return a.x_group_scales || a.weight_group_scales; }

int64_t out_pixels(const MztLinearArgs& a) {
    return pixels_along(a, a.image_height) * pixels_along(a, a.image_width);
}

int64_t at_most_largest(int64_t size) { return size < kLargest ? size : kLargest; }

// Pixels of x, of as many images as the output has.
int64_t in_pixels(const MztLinearArgs& a) {
    return at_most_largest(a.rows) / out_pixels(a) * a.image_height * a.image_width;
}

Matrices matrices_of(const MztLinearArgs& a) {
    const bool grouped = has_groups(a);
    const int64_t batches = a.gate && a.rows > 0 ? (a.rows - 1) / a.rows_per_batch + 1 : 0;
    const int64_t x_rows = is_convolution(a) ? in_pixels(a) : a.rows;
    const int64_t weight_columns = is_convolution(a) ? kTaps * at_most_largest(a.in) : a.in;
    const int64_t branch_rows = has_branch(a) ? a.rows : 0, branch_columns = has_branch(a) ? a.out_columns : 0;
    return {{{"x", a.x, x_rows, a.x_bits == 4 ? a.in / 2 : a.in, a.x_stride, 1, "bytes", true, false},
             {"weight", a.weight, a.part_count ? 0 : a.out_columns, a.weight_bits == 4 ? a.in / 2 : weight_columns,
              a.weight_stride, 1, "bytes", true, false},
             {"group_scales", a.group_scales, grouped ? a.out_columns : 0,
              a.in / (a.codebook ? kCodebookGroup : kGroup), a.group_scales_stride, 1,
              "bytes", false, false},
             {"x_group_scales", a.x_group_scales, is_grouped(a) ? a.in / kGroup : 0, a.rows, a.x_group_scales_stride, 4,
              "elements", true, false},
             {"weight_group_scales", a.weight_group_scales, is_grouped(a) ? a.in / kGroup : 0, a.out_columns,
              a.weight_group_scales_stride, 2, "elements", true, false},
             {"branch_x", a.branch_x, branch_rows, a.rank, a.branch_x_stride, 2, "elements", true, true},
             {"branch_up", a.branch_up, branch_columns, a.rank, a.branch_up_stride, 2, "elements", true, true},
             {"gate", a.gate, batches, a.out_columns, a.gate_stride, 2, "elements", true, true},
             {"residual", a.residual, a.residual ? a.rows : 0, a.out_columns, a.residual_stride, 2, "elements", true,
              true},
             {"out", a.out, a.rows, a.out_columns, a.out_stride, 2, "elements", true, false}}};
}

bool is_aligned(const void* pointer, int64_t bytes) { return reinterpret_cast<uintptr_t>(pointer) % bytes == 0; }

// Whether the byte offset of the last row's end exceeds 63 bits; sizes and stride are not negative.
bool overflows(const Matrix& matrix) {
    const int64_t room = INT64_MAX / matrix.element - matrix.columns;
    return room < 0 || (matrix.rows > 1 && matrix.stride > room / (matrix.rows - 1));
}

MztStatus check_kinds(const MztLinearArgs& a) {
    if (a.dtype > MZT_FLOAT32) {
        return fail(MZT_INVALID_ARGUMENT, "dtype is %u: give 0 (float16), 1 (bfloat16) or 2 (float32)", a.dtype);
    }
    if (a.weight_bits != 8 && a.weight_bits != 4) {
        return fail(MZT_INVALID_ARGUMENT, "weight_bits is %u: give 8 or 4", a.weight_bits);
    }
    if (a.x_bits != 8 && a.x_bits != 4) {
        return fail(MZT_INVALID_ARGUMENT, "x_bits is %u: give 8 or 4", a.x_bits);
    }
    if (a.codebook && !has_groups(a)) {
        return fail(MZT_INVALID_ARGUMENT, "a codebook is given, and x_bits is %u and weight_bits %u: give 8 and 4",
                    a.x_bits, a.weight_bits);
    }
    if (is_grouped(a) && (a.x_bits != 4 || a.weight_bits != 4)) {
        return fail(MZT_INVALID_ARGUMENT, "scales by group are given, and x_bits is %u and weight_bits %u: give 4 and 4",
                    a.x_bits, a.weight_bits);
    }
    if (a.floats > 1 || a.shares_weight_scale > 1) {
        return fail(MZT_INVALID_ARGUMENT, "%s is %u: give 0 or 1", a.floats > 1 ? "floats" : "shares_weight_scale",
                    a.floats > 1 ? a.floats : a.shares_weight_scale);
    }
    if (a.floats && (a.x_bits != 8 || a.weight_bits != 8)) {
        return fail(MZT_INVALID_ARGUMENT, "floats is 1, x_bits %u and weight_bits %u: give both 8 bits", a.x_bits,
                    a.weight_bits);
    }
    if (a.shares_weight_scale && !a.floats) {
        return fail(MZT_INVALID_ARGUMENT, "shares_weight_scale is 1 and floats 0: give a scale for each row of the weight");
    }
    if (a.activation > MZT_GATED_SILU || a.reserved) {
        return fail(MZT_INVALID_ARGUMENT, "activation is %u, and the reserved number %u: give 0 to 3, and 0", a.activation,
                    a.reserved);
    }
    if (a.x_bits >= a.weight_bits) return MZT_OK;
    return fail(MZT_INVALID_ARGUMENT, "x_bits is %u and weight_bits %u: give x of at least as many bits as the weight",
                a.x_bits, a.weight_bits);
}

MztStatus check_sizes(const MztLinearArgs& a) {
    const struct {
        const char* name;
        int64_t value, least;
    } sizes[] = {{"rows", a.rows, 0},
                 {"in", a.in, 0},
                 {"out_columns", a.out_columns, 0},
                 {"rank", a.rank, 0},
                 {"rows_per_batch", a.rows_per_batch, a.gate ? 1 : INT64_MIN}};
    for (const auto& size : sizes) {
        if (size.value < size.least) {
            return fail(MZT_INVALID_ARGUMENT, "%s is %" PRId64 ": give %" PRId64 " or more", size.name, size.value,
                        size.least);
        }
    }
    if (a.rank > 0 && !a.branch_x != !a.branch_up) {
        return fail(MZT_INVALID_ARGUMENT, "%s is null: give both matrices of the branch, or none",
                    a.branch_x ? "branch_up" : "branch_x");
    }
    return MZT_OK;
}

MztStatus check_matrix(const Matrix& matrix) {
    if (matrix.rows == 0 || matrix.columns == 0) return MZT_OK;
    if (!matrix.pointer && !matrix.optional) {
        return fail(MZT_INVALID_ARGUMENT, "%s is null: give a pointer to device memory", matrix.name);
    }
    if (matrix.rows > 1 && matrix.stride < 0) {
        return fail(MZT_INVALID_ARGUMENT, "%s_stride is %" PRId64 ": give 0 or more", matrix.name, matrix.stride);
    }
    if (overflows(matrix)) {
        return fail(MZT_INVALID_ARGUMENT, "%s_stride is %" PRId64 ": its last row's offset does not fit into 64 bits",
                    matrix.name, matrix.stride);
    }
    return MZT_OK;
}

// Check the vectors: one element per row of x, or per output column.
MztStatus check_vectors(const MztLinearArgs& a) {
    const struct {
        const char* name;
        const void* pointer;
        int64_t bytes;
        bool optional;
    } vectors[] = {{"x_scales", a.x_scales, 4, is_grouped(a)},
                   {"weight_scales", a.weight_scales, 4, is_grouped(a) || a.part_count > 0},
                   {"bias", a.bias, 2, true},
                   {"codebook", a.codebook, kAlignment, true},
                   {"workspace", a.workspace, kAlignment, true},
                   {"group_scales", a.codebook ? a.group_scales : nullptr, 2, true}};
    for (const auto& vector : vectors) {
        if (!vector.pointer && !vector.optional) {
            return fail(MZT_INVALID_ARGUMENT, "%s is null: give a pointer to device memory", vector.name);
        }
        if (!is_aligned(vector.pointer, vector.bytes)) {
            return fail(MZT_INVALID_ARGUMENT, "%s is %p: give an address that is a multiple of %" PRId64 " bytes",
                        vector.name, vector.pointer, vector.bytes);
        }
    }
    return MZT_OK;
}

MztStatus check_part(const MztLinearArgs& a, uint32_t number) {
    const MztLinearPart& part = a.parts[number];
    const Matrix weight = {"parts.weight", part.weight, part.out_columns, a.in, a.weight_stride, 1, "bytes", true, false};
    const int64_t multiple = is_gated(a) ? 1 : kPartColumns;
    if (part.out_columns <= 0 || part.out_columns % multiple) {
        return fail(MZT_INVALID_ARGUMENT, "parts[%u].out_columns is %" PRId64 ": give a multiple of %" PRId64, number,
                    part.out_columns, multiple);
    }
    if (const MztStatus status = check_matrix(weight)) return status;
    if (!part.weight_scales || !is_aligned(part.weight_scales, 4) || !is_aligned(part.bias, 2)) {
        return fail(MZT_INVALID_ARGUMENT, "parts[%u].weight_scales is %p and bias %p: give scales, and aligned addresses",
                    number, static_cast<const void*>(part.weight_scales), part.bias);
    }
    if (part.flags & ~(MZT_PART_NORM | MZT_PART_ROTATE)) {
        return fail(MZT_INVALID_ARGUMENT, "parts[%u].flags is %u: give 0 to 3", number, part.flags);
    }
    if (part.flags && a.head_dim != 64 && a.head_dim != 128) {
        return fail(MZT_INVALID_ARGUMENT, "head_dim is %u: give 64 or 128", a.head_dim);
    }
    if (part.flags && part.out_columns % a.head_dim) {
        return fail(MZT_INVALID_ARGUMENT, "parts[%u].out_columns is %" PRId64 ": give a multiple of head_dim, %u", number,
                    part.out_columns, a.head_dim);
    }
    if (part.norm_weight && (!(part.flags & MZT_PART_NORM) || !is_aligned(part.norm_weight, 2))) {
        return fail(MZT_INVALID_ARGUMENT, "parts[%u].norm_weight is %p and flags %u: give it with a norm, aligned", number,
                    part.norm_weight, part.flags);
    }
    if ((part.flags & MZT_PART_ROTATE) && (!a.rotations || !is_aligned(a.rotations, 8) || a.rotation_rows < 1)) {
        return fail(MZT_INVALID_ARGUMENT, "rotations is %p and rotation_rows %" PRId64 ": give some, aligned to 8 bytes",
                    static_cast<const void*>(a.rotations), a.rotation_rows);
    }
    return MZT_OK;
}

// Check the two layers of a gated linear unit: each as wide as the output, with nothing after them.
MztStatus check_gated(const MztLinearArgs& a) {
    if (a.part_count != 2 || a.gate || a.residual) {
        return fail(MZT_INVALID_ARGUMENT, "activation is %u with %u parts, gate %p and residual %p: give two parts alone",
                    a.activation, a.part_count, a.gate, a.residual);
    }
    for (uint32_t number = 0; number < 2; ++number) {
        const MztLinearPart& part = a.parts[number];
        if (part.out_columns == a.out_columns && !part.flags) continue;
        return fail(MZT_INVALID_ARGUMENT, "parts[%u] has %" PRId64 " columns and flags %u where out_columns is %" PRId64
                    ": give as many, and no flags", number, part.out_columns, part.flags, a.out_columns);
    }
    return MZT_OK;
}

// Check several layers: of 8 bits, without a branch, whose columns together are the output's.
MztStatus check_parts(const MztLinearArgs& a) {
    if (is_gated(a)) {
        if (const MztStatus status = check_gated(a)) return status;
    } else if (a.activation && a.part_count) {
        return fail(MZT_INVALID_ARGUMENT, "activation is %u with %u parts: give a single layer", a.activation,
                    a.part_count);
    }
    if (!a.part_count) return MZT_OK;
    if (a.part_count == 1 || a.part_count > 3) {
        return fail(MZT_INVALID_ARGUMENT, "part_count is %u: give 0, 2 or 3", a.part_count);
    }
    if (a.weight_bits != 8 || a.floats || has_branch(a)) {
        return fail(MZT_INVALID_ARGUMENT, "part_count is %u with weights of %u bits, floats %u and rank %" PRId64
                    ": parts have integers of 8 bits and no branch", a.part_count, a.weight_bits, a.floats, a.rank);
    }
    // Written so that NaN is rejected.
    if (!(a.epsilon >= 0 && a.epsilon <= 3.4e38f)) {
        return fail(MZT_INVALID_ARGUMENT, "epsilon is %g: give a number of 0 or more", static_cast<double>(a.epsilon));
    }
    int64_t columns = 0;
    for (uint32_t number = 0; number < a.part_count; ++number) {
        if (const MztStatus status = check_part(a, number)) return status;
        columns += a.parts[number].out_columns <= kLargest ? a.parts[number].out_columns : kLargest;
    }
    if (columns == a.out_columns || is_gated(a)) return MZT_OK;
    return fail(MZT_INVALID_ARGUMENT, "out_columns is %" PRId64 " and the parts have %" PRId64 ": give their sum",
                a.out_columns, columns);
}

// Check a convolution: of 8 bits, with whole images, and nothing but bias, gate and residual after it.
MztStatus check_convolution(const MztLinearArgs& a) {
    if (!a.image_height && !a.image_width && !a.image_stride) return MZT_OK;
    const int64_t height = a.image_height, width = a.image_width;
    if (height < 1 || width < 1 || height > kLongestEdge || width > kLongestEdge || a.image_stride < 1 ||
        a.image_stride > 2) {
        return fail(MZT_INVALID_ARGUMENT, "the images have %" PRId64 " x %" PRId64 " pixels and a stride of %" PRId64
                    ": give 1 to %" PRId64 " pixels and a stride of 1 or 2", height, width, a.image_stride, kLongestEdge);
    }
    if (a.weight_bits != 8 || a.x_bits != 8 || a.floats || a.part_count || has_branch(a) || a.activation) {
        return fail(MZT_INVALID_ARGUMENT, "a convolution has weights of %u bits, x of %u, floats %u, %u parts, rank %"
                    PRId64 " and activation %u: give integers of 8 bits, and none of the others", a.weight_bits, a.x_bits,
                    a.floats, a.part_count, a.rank, a.activation);
    }
    if (a.rows % out_pixels(a)) {
        return fail(MZT_INVALID_ARGUMENT, "rows is %" PRId64 ", and an image of the output has %" PRId64
                    " pixels: give those of whole images", a.rows, out_pixels(a));
    }
    return MZT_OK;
}

MztStatus check_output(const MztLinearArgs& a) {
    if (a.rows > 1 && a.out_stride < a.out_columns) {
        return fail(MZT_INVALID_ARGUMENT, "out_stride is %" PRId64 " and out_columns %" PRId64
                    ": rows overlap; give memory of its own to each", a.out_stride, a.out_columns);
    }
    if (a.residual == a.out && a.rows > 1 && a.residual_stride != a.out_stride) {
        return fail(MZT_INVALID_ARGUMENT, "residual is out itself, and residual_stride is %" PRId64 " where out_stride is %"
                    PRId64 ": give the same", a.residual_stride, a.out_stride);
    }
    return MZT_OK;
}

// The kernels read and write 16 bytes at a time.
MztStatus check_alignment(const Matrix& matrix) {
    if (!matrix.in_chunks || matrix.rows == 0 || matrix.columns == 0) return MZT_OK;
    if (!is_aligned(matrix.pointer, kAlignment)) {
        return fail(MZT_UNSUPPORTED, "%s is %p, no multiple of 16 bytes: copy it, or use another implementation",
                    matrix.name, matrix.pointer);
    }
    // The stride of a single row is unused, and torch may leave any value there.
    if (matrix.rows > 1 && matrix.stride % (kAlignment / matrix.element)) {
        return fail(MZT_UNSUPPORTED, "%s_stride is %" PRId64
                    " %s, no multiple of 16 bytes: copy it, or use another implementation", matrix.name, matrix.stride,
                    matrix.unit);
    }
    return MZT_OK;
}

MztStatus check_multiples(const MztLinearArgs& a) {
    const struct {
        const char* name;
        int64_t value, multiple, most;
    } sizes[] = {{"rows", a.rows, 1, kLargest},
                 {"pixels of x", is_convolution(a) ? in_pixels(a) : 0, 1, kLargest},
                 {"in", a.in, has_groups(a) || is_grouped(a) || is_convolution(a) ? kGroup : kAlignment * 8 / a.x_bits, kDeepest},
                 {"out_columns", a.out_columns, 8, kLargest},
                 {"rank", has_branch(a) ? a.rank : 0, 16, kHighestRank},
                 {"group_scales_stride", a.codebook && a.out_columns > 1 ? a.group_scales_stride : 0, 2, INT64_MAX}};
    for (const auto& size : sizes) {
        if (size.value % size.multiple) {
            return fail(MZT_UNSUPPORTED, "%s is %" PRId64 ", no multiple of %" PRId64 ": use another implementation",
                        size.name, size.value, size.multiple);
        }
        if (size.value > size.most) {
            return fail(MZT_UNSUPPORTED, "%s is %" PRId64 ": the kernels take up to %" PRId64, size.name, size.value,
                        size.most);
        }
    }
    return MZT_OK;
}

}  // namespace

MztStatus find_mistake(const MztLinearArgs& args) {
    if (const MztStatus status = check_kinds(args)) return status;
    if (const MztStatus status = check_sizes(args)) return status;
    if (const MztStatus status = check_convolution(args)) return status;
    if (is_empty(args)) return MZT_OK;
    for (const Matrix& matrix : matrices_of(args)) {
        if (const MztStatus status = check_matrix(matrix)) return status;
    }
    if (const MztStatus status = check_vectors(args)) return status;
    if (const MztStatus status = check_parts(args)) return status;
    return check_output(args);
}

MztStatus find_unsupported(const MztLinearArgs& args) {
    if (args.dtype == MZT_FLOAT32) return fail(MZT_UNSUPPORTED, "dtype is float32: the kernels take float16 and bfloat16");
    if (const MztStatus status = check_multiples(args)) return status;
    for (const Matrix& matrix : matrices_of(args)) {
        if (const MztStatus status = check_alignment(matrix)) return status;
    }
    for (uint32_t number = 0; number < args.part_count; ++number) {
        const MztLinearPart& part = args.parts[number];
        const Matrix weight = {"parts.weight", part.weight, part.out_columns, args.in, args.weight_stride, 1, "bytes", true,
                               false};
        if (const MztStatus status = check_alignment(weight)) return status;
    }
    return MZT_OK;
}

bool is_empty(const MztLinearArgs& args) { return args.rows == 0 || args.out_columns == 0; }

}  // namespace mezzotint
