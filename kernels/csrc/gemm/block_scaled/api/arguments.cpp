#include "arguments.h"

#include <cinttypes>

#include "../../../api/attention_arguments.h"
#include "../../../api/last_error.h"
#include "../../../api/linear_arguments.h"
#include "../../../api/quantize_arguments.h"

namespace mezzotint {

namespace {

constexpr int64_t kColumns = 128;  // a tile's, of NVFP4, and what four scales are for, of MXFP8
const float kOne = 1;              // in place of scales that may be null

struct Scales {
    const char *name, *stride_name;
    const uint8_t* pointer;
    int64_t rows, columns, stride;
};

bool is_nvfp4(uint32_t format) { return format == MZT_NVFP4; }
uint32_t bits_of(uint32_t format) { return is_nvfp4(format) ? 4 : 8; }
int64_t block_of(uint32_t format) { return is_nvfp4(format) ? 16 : 32; }
int64_t alignment_of(uint32_t format) { return is_nvfp4(format) ? 8 : 4; }

MztStatus check_format(uint32_t format, uint32_t reserved) {
    if (format != MZT_MXFP8 && format != MZT_NVFP4) {
        return fail(MZT_INVALID_ARGUMENT, "format is %u: give 1 (MXFP8) or 2 (NVFP4)", format);
    }
    if (reserved) return fail(MZT_INVALID_ARGUMENT, "the reserved number is %u: give 0", reserved);
    return MZT_OK;
}

MztStatus check_bits(const char* name, uint32_t bits, uint32_t format) {
    if (bits == bits_of(format)) return MZT_OK;
    return fail(MZT_INVALID_ARGUMENT, "%s is %u: give %u with format %u", name, bits, bits_of(format), format);
}

MztStatus check_scales(const Scales& scales) {
    if (scales.rows == 0 || scales.columns == 0) return MZT_OK;
    if (!scales.pointer) {
        return fail(MZT_INVALID_ARGUMENT, "%s is null: give a pointer to device memory", scales.name);
    }
    if (scales.rows > 1 && scales.stride < scales.columns) {
        return fail(MZT_INVALID_ARGUMENT, "%s is %" PRId64 ", and a row has %" PRId64 " scales: rows overlap",
                    scales.stride_name, scales.stride, scales.columns);
    }
    if (scales.rows > 1 && scales.stride > (INT64_MAX - scales.columns) / (scales.rows - 1)) {
        return fail(MZT_INVALID_ARGUMENT, "%s is %" PRId64 ": its last row's offset does not fit into 64 bits",
                    scales.stride_name, scales.stride);
    }
    return MZT_OK;
}

MztStatus check_alignment(const Scales& scales, uint32_t format) {
    const int64_t bytes = alignment_of(format);
    if (scales.rows == 0 || scales.columns == 0) return MZT_OK;
    if (reinterpret_cast<uintptr_t>(scales.pointer) % bytes) {
        return fail(MZT_UNSUPPORTED, "%s is %p, no multiple of %" PRId64 " bytes: copy it, or use another implementation",
                    scales.name, static_cast<const void*>(scales.pointer), bytes);
    }
    if (scales.rows > 1 && scales.stride % bytes) {
        return fail(MZT_UNSUPPORTED, "%s is %" PRId64 ", no multiple of %" PRId64
                    " bytes: copy it, or use another implementation", scales.stride_name, scales.stride, bytes);
    }
    return MZT_OK;
}

MztStatus check_columns(const char* name, int64_t columns) {
    if (columns % kColumns == 0) return MZT_OK;
    return fail(MZT_UNSUPPORTED, "%s is %" PRId64 ", no multiple of %" PRId64 ": use another implementation", name,
                columns, kColumns);
}

Scales scales_of(const MztBlockScaledQuantizeArgs& a) {
    return {"block_scales", "block_scales_stride", a.block_scales, a.rows.rows, a.rows.columns / block_of(a.format),
            a.block_scales_stride};
}

Scales x_scales_of(const MztBlockScaledLinearArgs& a) {
    return {"x_block_scales", "x_block_scales_stride", a.x_block_scales, a.linear.rows,
            a.linear.in / block_of(a.format), a.x_block_scales_stride};
}

Scales weight_scales_of(const MztBlockScaledLinearArgs& a) {
    return {"weight_block_scales", "weight_block_scales_stride", a.weight_block_scales, a.linear.out_columns,
            a.linear.in / block_of(a.format), a.weight_block_scales_stride};
}

// What the checks of the plain functions see: with scales where theirs must be there.
MztQuantizeArgs with_scales(const MztBlockScaledQuantizeArgs& args) {
    MztQuantizeArgs rows = args.rows;
    if (!is_nvfp4(args.format)) rows.scales = const_cast<float*>(&kOne);
    return rows;
}

MztLinearArgs with_scales(const MztBlockScaledLinearArgs& args) {
    MztLinearArgs linear = args.linear;
    if (!linear.x_scales) linear.x_scales = &kOne;
    linear.weight_scales = args.weight_scale ? args.weight_scale : &kOne;
    return linear;
}

}  // namespace

MztStatus find_mistake(const MztBlockScaledQuantizeArgs& args) {
    if (const MztStatus status = check_format(args.format, args.reserved)) return status;
    if (const MztStatus status = check_version(&args.rows, sizeof args.rows, "args.rows")) return status;
    if (const MztStatus status = check_bits("bits", args.rows.bits, args.format)) return status;
    if (args.rows.group) {
        return fail(MZT_INVALID_ARGUMENT, "group is %u: give 0, since these rows are not rotated", args.rows.group);
    }
    if (const MztStatus status = find_mistake(with_scales(args))) return status;
    return check_scales(scales_of(args));
}

MztStatus find_mistake(const MztBlockScaledLinearArgs& args) {
    if (const MztStatus status = check_format(args.format, args.reserved)) return status;
    if (const MztStatus status = check_version(&args.linear, sizeof args.linear, "args.linear")) return status;
    if (const MztStatus status = check_bits("x_bits", args.linear.x_bits, args.format)) return status;
    if (const MztStatus status = check_bits("weight_bits", args.linear.weight_bits, args.format)) return status;
    if (args.linear.weight_scales || args.linear.group_scales) {
        return fail(MZT_INVALID_ARGUMENT, "%s is not null: give block scales, and weight_scale for the whole weight",
                    args.linear.weight_scales ? "weight_scales" : "group_scales");
    }
    if (args.linear.part_count) {
        return fail(MZT_INVALID_ARGUMENT, "part_count is %u: give 0, since these products are of one layer",
                    args.linear.part_count);
    }
    if (const MztStatus status = find_mistake(with_scales(args))) return status;
    if (is_empty(args.linear)) return MZT_OK;
    if (const MztStatus status = check_scales(x_scales_of(args))) return status;
    return check_scales(weight_scales_of(args));
}

MztStatus find_unsupported(const MztBlockScaledQuantizeArgs& args) {
    if (const MztStatus status = check_columns("columns", args.rows.columns)) return status;
    if (const MztStatus status = find_unsupported(with_scales(args))) return status;
    return check_alignment(scales_of(args), args.format);
}

MztStatus find_unsupported(const MztBlockScaledLinearArgs& args) {
    if (const MztStatus status = check_columns("in", args.linear.in)) return status;
    if (const MztStatus status = find_unsupported(with_scales(args))) return status;
    if (const MztStatus status = check_alignment(x_scales_of(args), args.format)) return status;
    return check_alignment(weight_scales_of(args), args.format);
}

}  // namespace mezzotint
