#include "table_arguments.h"

#include <cinttypes>

#include "last_error.h"

namespace mezzotint {

namespace {

MztStatus check_sizes(const MztBlockTable& table, const RowTokens& tokens) {
    if (table.block_q != 64 && table.block_q != 128) {
        return fail(MZT_INVALID_ARGUMENT, "table.block_q is %d: give 64 or 128", table.block_q);
    }
    if (table.block_k != 64) return fail(MZT_INVALID_ARGUMENT, "table.block_k is %d: give 64", table.block_k);
    if (table.reserved) {
        return fail(MZT_INVALID_ARGUMENT, "table.reserved is %u: give 0", table.reserved);
    }
    const int64_t rows = tokens.count / table.block_q + (tokens.count % table.block_q != 0);
    if (table.rows != rows) {
        return fail(MZT_INVALID_ARGUMENT, "table.rows is %d: give %" PRId64 ", for %" PRId64 " %s", table.rows, rows,
                    tokens.count, tokens.name);
    }
    return MZT_OK;
}

// Rows are counted over all tables, in 31 bits.
MztStatus check_strides(const MztBlockTable& table, const MztAttentionArgs& args) {
    const struct {
        const char* name;
        int64_t value, size;
    } strides[] = {{"stride_batch", table.stride_batch, args.batch}, {"stride_head", table.stride_head, args.heads}};
    int64_t room = INT32_MAX - 1 - table.rows;
    for (const auto& stride : strides) {
        if (stride.size <= 1) continue;
        if (stride.value < 0 || stride.value > room / (stride.size - 1)) {
            return fail(MZT_INVALID_ARGUMENT, "table.%s is %" PRId64 ": give 0 or more, and fewer than 2^31 rows",
                        stride.name, stride.value);
        }
        room -= stride.value * (stride.size - 1);
    }
    return MZT_OK;
}

MztStatus check_pointers(const MztBlockTable& table, Purpose purpose) {
    const struct {
        const char* name;
        const void* value;
        uintptr_t alignment;
    } pointers[] = {{"row_ptr", table.row_ptr, 4}, {"col", table.col, 4}, {"tile", table.tile, 4}, {"bits", table.bits, 8},
                    {"order", table.order, 4}};
    for (const auto& pointer : pointers) {
        if (reinterpret_cast<uintptr_t>(pointer.value) % pointer.alignment) {
            return fail(MZT_INVALID_ARGUMENT, "table.%s is %p: give an address that is a multiple of %d bytes", pointer.name,
                        pointer.value, static_cast<int>(pointer.alignment));
        }
    }
    if (purpose == Purpose::launch && (!table.row_ptr || !table.col)) {
        return fail(MZT_INVALID_ARGUMENT, "table.%s is null: give a pointer to device memory",
                    table.row_ptr ? "col" : "row_ptr");
    }
    if (!table.tile != !table.bits) {
        return fail(MZT_INVALID_ARGUMENT, "table.%s is null: give both tile and bits, or neither",
                    table.tile ? "bits" : "tile");
    }
    return MZT_OK;
}

}  // namespace

MztStatus check_table(const MztBlockTable& table, const MztAttentionArgs& args, const RowTokens& tokens, Purpose purpose) {
    if (const MztStatus status = check_version(&table, sizeof table, "table")) return status;
    if (const MztStatus status = check_sizes(table, tokens)) return status;
    if (const MztStatus status = check_strides(table, args)) return status;
    return check_pointers(table, purpose);
}

}  // namespace mezzotint
