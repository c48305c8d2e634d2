#include "quantize_arguments.h"

#include <cinttypes>

#include "../quantize/quantize.h"
#include "last_error.h"

namespace mezzotint {

namespace {

constexpr int64_t kRowBytes = 16;           // rows of integers are a multiple, so that they and half rows are aligned
constexpr int64_t kGroupColumns = 64;       // that share a scale, where rows do not
constexpr int64_t kMostRows = 1000000000;   // so that kernels and grids can count rows in 32 bits; offsets are 64-bit

// A buffer that is read or written by rows; the stride and `columns` count elements of `element` bytes.
struct Matrix {
    const char *name, *stride_name, *unit;
    const void* pointer;
    int64_t rows, columns, stride, element;
};

struct Matrices {
    Matrix each[7];
    const Matrix* begin() const { return each; }
    const Matrix* end() const { return each + 7; }
};

bool is_norm(const MztQuantizeArgs& a) { return a.preparation == MZT_LAYER_NORM || a.preparation == MZT_RMS_NORM; }

int64_t value_bytes(const MztQuantizeArgs& a) { return a.bits == 4 ? a.columns / 2 : a.columns; }

// Return the buffers; those that are absent have rows 0. The sizes are not negative.
Matrices matrices_of(const MztQuantizeArgs& a) {
    const int64_t columns = a.columns, halves = a.preparation == MZT_GEGLU ? 2 : 1;
    const int64_t batches = a.gain && a.rows > 0 ? (a.rows - 1) / a.rows_per_batch + 1 : 0;
    const char *strides = "modulation_stride", *elements = "elements";
    return {{{"x", "x_stride", elements, a.x, a.rows, columns <= INT64_MAX / halves ? columns * halves : columns,
              a.x_stride, 2},
             {"norm_weight", "", elements, a.norm_weight, a.norm_weight ? 1 : 0, columns, 0, 2},
             {"norm_bias", "", elements, a.norm_bias, a.norm_bias ? 1 : 0, columns, 0, 2},
             {"shift", strides, elements, a.shift, batches, columns, a.modulation_stride, 2},
             {"smooth", "", elements, a.smooth, a.smooth ? 1 : 0, columns, 0, 4},
             {"gain", strides, elements, a.gain, batches, columns, a.modulation_stride, 2},
             {"values", "values_stride", "bytes", a.values, a.rows, value_bytes(a), a.values_stride, 1}}};
}

bool is_there(const Matrix& matrix) { return matrix.rows > 0 && matrix.columns > 0; }

bool is_aligned(const void* pointer, int64_t bytes) { return reinterpret_cast<uintptr_t>(pointer) % bytes == 0; }

// Whether the byte offset of the last row's end exceeds 63 bits; sizes and stride are not negative.
bool overflows(const Matrix& matrix) {
    const int64_t room = INT64_MAX / matrix.element - matrix.columns;
    return room < 0 || (matrix.rows > 1 && matrix.stride > room / (matrix.rows - 1));
}

// Scales by group, and the smoothing that only they have.
MztStatus check_groups(const MztQuantizeArgs& a) {
    if (a.scale_columns != 0 && a.scale_columns != kGroupColumns) {
        return fail(MZT_INVALID_ARGUMENT, "scale_columns is %u: give 0 (whole rows) or 64", a.scale_columns);
    }
    if (a.scale_columns && (a.bits != 4 || a.preparation != MZT_AS_IT_IS)) {
        return fail(MZT_INVALID_ARGUMENT, "scale_columns is 64 with bits %u and preparation %u: give 4 and 0 (as it is)",
                    a.bits, a.preparation);
    }
    if (!a.scale_columns && a.smooth) {
        return fail(MZT_INVALID_ARGUMENT, "smooth is %p, and scale_columns 0: give null, or 64 columns",
                    static_cast<const void*>(a.smooth));
    }
    return MZT_OK;
}

MztStatus check_kinds(const MztQuantizeArgs& a) {
    if (a.dtype > MZT_FLOAT32) {
        return fail(MZT_INVALID_ARGUMENT, "dtype is %u: give 0 (float16), 1 (bfloat16) or 2 (float32)", a.dtype);
    }
    if (a.preparation > MZT_GEGLU) {
        return fail(MZT_INVALID_ARGUMENT, "preparation is %u: give 0 (as it is) to 5 (GEGLU)", a.preparation);
    }
    if (a.bits != 8 && a.bits != 4) return fail(MZT_INVALID_ARGUMENT, "bits is %u: give 8 or 4", a.bits);
    if (const MztStatus status = check_groups(a)) return status;
    if (a.floats > 1) return fail(MZT_INVALID_ARGUMENT, "floats is %u: give 0 or 1", a.floats);
    if (a.floats && a.bits != 8) return fail(MZT_INVALID_ARGUMENT, "floats is 1 and bits %u: give 8 bits", a.bits);
    constexpr uint32_t kGroups[] = {0, 4, 16, 64, 256};
    for (const uint32_t group : kGroups) {
        if (a.group == group) return MZT_OK;
    }
    return fail(MZT_INVALID_ARGUMENT, "group is %u: give 0 (no rotation), 4, 16, 64 or 256", a.group);
}

MztStatus check_sizes(const MztQuantizeArgs& a) {
    const struct {
        const char* name;
        int64_t value, least;
    } sizes[] = {{"rows", a.rows, 0},
                 {"columns", a.columns, 0},
                 {"rows_per_batch", a.rows_per_batch, a.gain ? 1 : INT64_MIN}};
    for (const auto& size : sizes) {
        if (size.value < size.least) {
            return fail(MZT_INVALID_ARGUMENT, "%s is %" PRId64 ": give %" PRId64 " or more", size.name, size.value,
                        size.least);
        }
    }
    if (a.group && a.columns % a.group) {
        return fail(MZT_INVALID_ARGUMENT, "group is %u and columns %" PRId64 ", which is no multiple of it: give a group "
                    "that divides columns, or 0", a.group, a.columns);
    }
    return MZT_OK;
}

// Check the preparation's parameters: both or none of a modulation, and weights only with a norm.
MztStatus check_changes(const MztQuantizeArgs& a) {
    if (!a.shift != !a.gain) {
        return fail(MZT_INVALID_ARGUMENT, "%s is null: give both shift and gain, or none", a.shift ? "gain" : "shift");
    }
    if (!is_norm(a) && (a.norm_weight || a.norm_bias)) {
        return fail(MZT_INVALID_ARGUMENT, "%s is %p, and preparation %u is no norm: give null",
                    a.norm_weight ? "norm_weight" : "norm_bias", a.norm_weight ? a.norm_weight : a.norm_bias,
                    a.preparation);
    }
    // Written so that NaN is rejected.
    if (is_norm(a) && !(a.epsilon >= 0 && a.epsilon <= 3.4e38f)) {
        return fail(MZT_INVALID_ARGUMENT, "epsilon is %g: give a number of 0 or more", static_cast<double>(a.epsilon));
    }
    return MZT_OK;
}

MztStatus check_matrix(const Matrix& matrix) {
    if (!is_there(matrix)) return MZT_OK;
    if (!matrix.pointer) {
        return fail(MZT_INVALID_ARGUMENT, "%s is null: give a pointer to device memory", matrix.name);
    }
    if (matrix.rows > 1 && matrix.stride < 0) {
        return fail(MZT_INVALID_ARGUMENT, "%s is %" PRId64 ": give 0 or more", matrix.stride_name, matrix.stride);
    }
    if (overflows(matrix)) {
        return fail(MZT_INVALID_ARGUMENT, "%s is %" PRId64 ": the end of the last row of %s does not fit into 64 bits",
                    matrix.rows > 1 ? matrix.stride_name : "columns", matrix.rows > 1 ? matrix.stride : matrix.columns,
                    matrix.name);
    }
    return MZT_OK;
}

MztStatus check_results(const MztQuantizeArgs& a) {
    if (!a.scales) return fail(MZT_INVALID_ARGUMENT, "scales is null: give a pointer to device memory");
    if (!is_aligned(a.scales, 4)) {
        return fail(MZT_INVALID_ARGUMENT, "scales is %p: give an address that is a multiple of 4 bytes",
                    static_cast<const void*>(a.scales));
    }
    if (a.scale_columns && a.columns > kGroupColumns && a.scales_stride < a.rows) {
        return fail(MZT_INVALID_ARGUMENT, "scales_stride is %" PRId64 " and rows %" PRId64
                    ": groups overlap; give memory of its own to each", a.scales_stride, a.rows);
    }
    if (a.rows > 1 && a.values_stride < value_bytes(a)) {
        return fail(MZT_INVALID_ARGUMENT, "values_stride is %" PRId64 " and columns %" PRId64
                    ": rows overlap; give memory of its own to each", a.values_stride, a.columns);
    }
    return MZT_OK;
}

// The kernels read 16 bytes at a time, and so does the product that consumes their output.
MztStatus check_alignment(const Matrix& matrix) {
    if (!is_there(matrix)) return MZT_OK;
    if (!is_aligned(matrix.pointer, 16)) {
        return fail(MZT_UNSUPPORTED, "%s is %p, no multiple of 16 bytes: copy it, or use another implementation",
                    matrix.name, matrix.pointer);
    }
    // The stride of a single row is unused, and torch may leave any value there.
    if (matrix.rows > 1 && matrix.stride % (16 / matrix.element)) {
        return fail(MZT_UNSUPPORTED, "%s is %" PRId64
                    " %s, no multiple of 16 bytes: copy %s, or use another implementation", matrix.stride_name,
                    matrix.stride, matrix.unit, matrix.name);
    }
    return MZT_OK;
}

}  // namespace

MztStatus find_mistake(const MztQuantizeArgs& args) {
    if (const MztStatus status = check_kinds(args)) return status;
    if (const MztStatus status = check_sizes(args)) return status;
    if (const MztStatus status = check_changes(args)) return status;
    if (args.rows == 0) return MZT_OK;
    for (const Matrix& matrix : matrices_of(args)) {
        if (const MztStatus status = check_matrix(matrix)) return status;
    }
    return check_results(args);
}

MztStatus find_unsupported(const MztQuantizeArgs& args) {
    if (args.dtype == MZT_FLOAT32) return fail(MZT_UNSUPPORTED, "dtype is float32: the kernels take float16 and bfloat16");
    if (const int64_t step = args.scale_columns ? kGroupColumns : kRowBytes * 8 / args.bits; args.columns % step) {
        return fail(MZT_UNSUPPORTED, "columns is %" PRId64 ", no multiple of %" PRId64 ": use another implementation",
                    args.columns, step);
    }
    const struct {
        const char* name;
        int64_t value, most;
    } sizes[] = {{"columns", args.columns, kMostQuantizedColumns}, {"rows", args.rows, kMostRows}};
    for (const auto& size : sizes) {
        if (size.value > size.most) {
            return fail(MZT_UNSUPPORTED, "%s is %" PRId64 ": the kernels take up to %" PRId64, size.name, size.value,
                        size.most);
        }
    }
    for (const Matrix& matrix : matrices_of(args)) {
        if (const MztStatus status = check_alignment(matrix)) return status;
    }
    return MZT_OK;
}

}  // namespace mezzotint
