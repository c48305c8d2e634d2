#include "choose.h"

#include <cstdio>
#include <cstring>

#include "../choice.h"
#include "../gemm/gemm.h"
#include "hopper/maps.h"
#include "int8/workspace.h"
#include "splits/splits.h"

namespace mezzotint {

namespace {

bool wants_masked(const MztAttentionArgs& args) { return args.key_mask || args.bias || args.table; }

// Whether an instance's tiles divide the blocks of a table, if there is one.
bool divides_blocks(const Instance& instance, const MztAttentionArgs& args) {
    return !args.table || (args.table->block_q % instance.tile_m == 0 && args.table->block_k % instance.tile_n == 0);
}

// Registers of a thread, about (kernel_build/registers.txt).
int registers_of(const Instance& instance) {
    if (instance.rows_per_warp > 16) return 255;
    if (instance.kind == Kind::int8_fp8 && instance.slice_dim <= 64) return 128;
    if (instance.kind == Kind::int8_all && instance.slice_dim > 72) return 216;
    return instance.slice_dim > 96 ? 216 : 168;
}

// Of the kinds that multiply scores in 8 bits.
bool is_int8(Kind kind) { return kind == Kind::int8 || kind == Kind::int8_all || kind == Kind::int8_fp8; }

// Whether products take hardly longer than what is around them. On GeForce cards those of 16 rows and 64 keys with heads
// of 64 take 512 cycles of a quarter of a multiprocessor, and 370 other instructions about two cycles each in a lone warp:
// two warps multiply 81 % of the time, three always. 64 rows need 16 bytes of keys and values per cycle from the L2 cache,
// of 22 (gemm/choose.cpp), 192 rows a third of it.
bool has_brief_products(const Instance& instance) {
    return (instance.kind == Kind::int8_all || instance.kind == Kind::int8_fp8) && instance.head_dim <= 96;
}

// Estimated fraction of time in which a multiprocessor multiplies. GPUs with half-rate products into 32-bit sums are
// bound by these for any shape; others are bound by shared memory if only 16 rows share what was read. With one warp
// per quarter of the multiprocessor, nothing is multiplied during that warp's softmax; a quarter without a warp idles.
double speed(const Instance& instance, const DeviceFacts& device) {
    if (instance.kind == Kind::hopper) return 1.9;  // whose products have twice the rate
    const double rows = instance.rows_per_warp > 16 ? 1.0 : halves_32_bit_sums(device) ? 0.95 : 0.72;
    if (instance.kind == Kind::short_keys) return 2 * rows;  // all keys are read once, with a single softmax
    const double keys = instance.tile_n >= 64 ? 1.0 : 0.95;
    const int warps = resident_blocks(instance, device) * instance.threads / 32;
    if (has_brief_products(instance)) {
        const double shared = instance.tile_m >= 128 ? 1.0 : 0.84;
        return shared * (warps >= 12 ? 0.97 : warps >= 8 ? 0.81 : 0.1 * warps);
    }
    return rows * keys * (warps >= 8 ? 1.0 : warps >= 4 ? 0.8 : 0.2 * warps);
}

// Keys that are multiplied for each that there is. Hopper's tiles are large, and few keys leave much of one empty.
double filled_keys(const Instance& instance, const MztAttentionArgs& args) {
    if (instance.kind != Kind::hopper || args.nk == 0) return 1;
    const int64_t multiplied = divide_up(args.nk, instance.tile_n) * instance.tile_n;
    return static_cast<double>(multiplied) / static_cast<double>(args.nk);
}

// Those that blocks take; an order is of whole rows of a table, of which the last may have tiles without queries.
int64_t query_tiles(const Instance& instance, const MztAttentionArgs& args) {
    if (!args.table || !args.table->order) return divide_up(args.nq, instance.tile_m);
    return static_cast<int64_t>(args.table->rows) * (args.table->block_q / instance.tile_m);
}

// Whether its blocks, and those of the passes before it, fit into a grid.
bool fits_grid(const Instance& instance, const MztAttentionArgs& args) {
    if (blocks_of(instance, args, tiles_per_block(instance, args)) > INT32_MAX) return false;
    if (instance.kind == Kind::hopper) return query_tiles_of_all(instance, args) <= INT32_MAX;
    if (!has_copies(instance.kind)) return true;
    Int8Params params = int8_params(args);
    params.forward = forward_params(instance, args);
    return summarize_blocks(params) <= INT32_MAX && quantize_blocks(params) <= INT32_MAX;
}

// Whether the instance supports the problem on any device.
bool serves(const Instance& instance, const MztAttentionArgs& args) {
    if (!takes_heads(instance, args.head_dim) || static_cast<uint32_t>(instance.dtype) != args.dtype) return false;
    if (instance.kind == Kind::hopper && !suits_boxes(args)) return false;
    if (instance.masked != wants_masked(args) || !is_asked(instance.kind, args)) return false;
    if (!divides_blocks(instance, args)) return false;
    if (instance.kind == Kind::short_keys && args.nk > instance.tile_n) return false;
    return args.nq + args.nk + instance.tile_m <= INT32_MAX;
}

// Whether every pair of adjacent bias elements is aligned to the pair's size.
bool bias_in_pairs(const MztAttentionArgs& args) {
    const uintptr_t pair_bytes = args.bias_dtype == MZT_FLOAT32 ? 8 : 4;
    const auto [batch, head, query, key] = args.bias_stride;
    return key == 1 && (batch | head | query) % 2 == 0 && reinterpret_cast<uintptr_t>(args.bias) % pair_bytes == 0;
}

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::int8: return "int8";
        case Kind::int8_all: return "int8-all";
        case Kind::int8_fp8: return "int8-fp8";
        case Kind::half_sums: return "flash-fp16";
        case Kind::short_keys: return "short keys";
        case Kind::dropout: return "dropout";
        case Kind::hopper: return "hopper";
        default: return "forward";
    }
}

// Of a kind of kernels that there are not.
const char* word_of(Kind kind) {
    switch (kind) {
        case Kind::int8: return "int8 ";
        case Kind::int8_all: return "int8-all ";
        case Kind::int8_fp8: return "int8-fp8 ";
        case Kind::half_sums: return "flash-fp16 ";
        case Kind::dropout: return "dropout ";
        default: return "";
    }
}

}  // namespace

const Instance* instance_of(uint32_t number) { return find_instance(instance_lists(), instance_list, number); }

// Whether products with 32-bit sums have half the rate of those with 16-bit sums: GeForce cards and their relatives.
// Kernels for them are compiled to nothing elsewhere (compiled.h).
bool halves_32_bit_sums(const DeviceFacts& device) {
    return device.architecture == 75 || device.architecture == 86 || device.architecture == 89 ||
           device.architecture >= 120;
}

// Each block reserves 1 kB of shared memory in addition to its own.
int resident_blocks(const Instance& instance, const DeviceFacts& device) {
    const int by_memory = (device.shared_bytes + 1024) / (instance.shared_bytes + 1024);
    const int by_registers = 65536 / (registers_of(instance) * instance.threads);
    const int blocks = by_memory < by_registers ? by_memory : by_registers;
    return blocks < 1 ? 1 : blocks;
}

bool runs_on(const Instance& instance, const DeviceFacts& device) {
    if (instance.kind == Kind::int8_fp8 && !multiplies_fp8(device.architecture)) return false;
    if (is_int8(instance.kind) && !multiplies_integers(device.architecture)) return false;
    if (instance.kind == Kind::half_sums && !halves_32_bit_sums(device)) return false;
    if (instance.kind == Kind::hopper && device.architecture != 90) return false;
    if (instance.shared_bytes > device.shared_bytes) return false;
    if (device.architecture >= 80) return true;
    return instance.dtype == MZT_FLOAT16 && instance.shared_bytes <= kTuringSharedBytes;
}

int64_t query_tiles_of_all(const Instance& instance, const MztAttentionArgs& args) {
    return query_tiles(instance, args) * args.heads * args.batch;
}

// Query tiles per block. If a block holds all keys, they should serve many tiles, but having enough blocks for every
// multiprocessor takes precedence.
int64_t tiles_per_block(const Instance& instance, const MztAttentionArgs& args) {
    constexpr int64_t enough_blocks = 640, most_tiles = 16;
    constexpr int64_t multiprocessors = 132;  // of an H100 and H200; a block of Hopper's fills one
    if (instance.kind == Kind::hopper) {
        const int64_t each = divide_up(query_tiles_of_all(instance, args), multiprocessors);
        return each < 1 ? 1 : each;
    }
    if (instance.kind != Kind::short_keys) return 1;
    const int64_t tiles = query_tiles_of_all(instance, args);
    const int64_t each = tiles / enough_blocks;
    return each < 1 ? 1 : each > most_tiles ? most_tiles : each;
}

int64_t blocks_of(const Instance& instance, const MztAttentionArgs& args, int64_t tiles_per_block) {
    if (instance.kind == Kind::hopper) return divide_up(query_tiles_of_all(instance, args), tiles_per_block);
    const int64_t slices = instance.head_dim / instance.slice_dim;
    const int64_t tiles = query_tiles(instance, args);
    return divide_up(tiles, tiles_per_block) * slices * args.heads * args.batch;
}

namespace {

bool is_about(const Swept& swept, const MztAttentionArgs& args, const DeviceFacts& device) {
    if (swept.architecture != device.architecture || swept.head_dim != args.head_dim) return false;
    if (swept.masked != wants_masked(args) || !is_asked(swept.kind, args)) return false;
    const int64_t each = args.batch * args.heads * args.nq / device.multiprocessors, queries = each < 1 ? 1 : each;
    return queries >= swept.queries && queries < 2 * swept.queries && args.nk >= swept.keys && args.nk < 2 * swept.keys;
}

// Return the measured result for this class of problems, or null if there is none.
const Swept* find_swept(const MztAttentionArgs& args, const DeviceFacts& device) {
    for (const Swept* each = kSwept; each->architecture; ++each) {
        if (is_about(*each, args, device)) return each;
    }
    return nullptr;
}

bool names(const Swept& swept, const Instance& instance) {
    return swept.kind == instance.kind && swept.tile_m == instance.tile_m && swept.tile_n == instance.tile_n &&
           swept.threads == instance.threads;
}

}  // namespace

// The multiprocessor with the most blocks finishes last.
double cost_of(const Instance& instance, const MztAttentionArgs& args, const DeviceFacts& device) {
    const int64_t tiles = tiles_per_block(instance, args);
    const int64_t most = divide_up(blocks_of(instance, args, tiles), device.multiprocessors) * tiles;
    const double work = static_cast<double>(instance.tile_m) * (instance.head_dim + instance.slice_dim);
    return static_cast<double>(most) * work * filled_keys(instance, args) / speed(instance, device);
}

namespace {

void consider(Choice<Instance>& choice, const Instance& instance, uint32_t number, const MztAttentionArgs& args,
              const DeviceFacts& device, const Swept* swept) {
    if (!serves(instance, args) || !runs_on(instance, device)) return;
    if (!fits_grid(instance, args)) {
        choice.too_large = true;
        return;
    }
    const double whole = swept && names(*swept, instance) ? 0 : cost_of(instance, args, device);
    choice.offer(instance, number, whole / choose_splits(instance, args, device).gain);
}

Choice<Instance> choose(const MztAttentionArgs& args, const DeviceFacts& device) {
    Choice<Instance> choice;
    const Swept* swept = find_swept(args, device);
    visit_instances(instance_lists(), instance_list, [&](const Instance& instance, uint32_t number) {
        consider(choice, instance, number, args, device, swept);
    });
    return choice;
}

void name_splits(MztAttentionPlan& plan, int splits) {
    const size_t length = std::strlen(plan.text);
    std::snprintf(plan.text + length, sizeof plan.text - length, ", %d splits", splits);
}

}  // namespace

void plan_attention(const MztAttentionArgs& args, const DeviceFacts& device, MztAttentionPlan& plan) {
    const Choice<Instance> choice = choose(args, device);
    const Instance* best = choice.best;
    plan.kernel = choice.number;
    plan.supported = best != nullptr;
    if (best) {
        std::snprintf(plan.text, sizeof plan.text, "%s %s d%d %dx%d%s", name_of(best->kind),
                      name_of(best->dtype), static_cast<int>(args.head_dim), best->tile_m, best->tile_n,
                      best->masked ? " masked" : "");
        const int splits = choose_splits(*best, args, device).count;
        plan.workspace_bytes = has_copies(best->kind) ? int8_workspace_bytes(args) : split_bytes(args, splits);
        if (splits > 1) name_splits(plan, splits);
    } else if (choice.too_large) {
        std::snprintf(plan.text, sizeof plan.text,
                      "a batch of %lld with %lld heads of %lld queries is more than a card's grid of blocks takes",
                      static_cast<long long>(args.batch), static_cast<long long>(args.heads),
                      static_cast<long long>(args.nq));
    } else {
        const Kind kind = asked_kind(args);
        if (kind == Kind::int8_fp8 && !multiplies_fp8(device.architecture)) {
            std::snprintf(plan.text, sizeof plan.text,
                          "no int8-fp8 kernel on architecture %d, which has no products of 8-bit floats with 16-bit sums",
                          device.architecture);
            return;
        }
        if (is_int8(kind) && !multiplies_integers(device.architecture)) {
            std::snprintf(plan.text, sizeof plan.text, "no %skernel on architecture %d, where torch's of 16 bits is faster",
                          word_of(kind), device.architecture);
            return;
        }
        if (kind == Kind::half_sums && !halves_32_bit_sums(device)) {
            std::snprintf(plan.text, sizeof plan.text,
                          "no flash-fp16 kernel on architecture %d, where products with 32-bit sums are as fast",
                          device.architecture);
            return;
        }
        std::snprintf(plan.text, sizeof plan.text,
                      "no %skernel for head size %lld in %s%s on architecture %d with %d bytes of shared memory",
                      word_of(kind), static_cast<long long>(args.head_dim), name_of(static_cast<MztDtype>(args.dtype)),
                      (kind == Kind::int8_all || kind == Kind::int8_fp8) && wants_masked(args) ? " with masks" : "", device.architecture,
                      device.shared_bytes);
    }
}

BlockTable table_params(const MztBlockTable* table) {
    if (!table) return BlockTable{};
    return {table->row_ptr,      table->col,         table->tile,                  table->bits,
            table->stride_batch, table->stride_head, table->block_q == 64 ? 6 : 7, table->order};
}

ForwardParams forward_params(const Instance& instance, const MztAttentionArgs& args, int splits) {
    const auto strides = [](const int64_t (&from)[3]) { return Strides{from[0], from[1], from[2]}; };
    ForwardParams params{};
    params.q = args.q;
    params.k = args.k;
    params.v = args.v;
    params.out = args.out;
    params.lse = args.lse;
    params.q_stride = strides(args.q_stride);
    params.k_stride = strides(args.k_stride);
    params.v_stride = strides(args.v_stride);
    params.out_stride = strides(args.out_stride);
    params.heads = static_cast<int32_t>(args.heads);
    params.heads_per_kv = static_cast<int32_t>(args.heads / args.kv_heads);
    params.nq = static_cast<int32_t>(args.nq);
    params.nk = static_cast<int32_t>(args.nk);
    params.tiles_per_block = static_cast<int32_t>(tiles_per_block(instance, args));
    params.q_tiles = static_cast<int32_t>(query_tiles(instance, args));
    params.slices = instance.head_dim / instance.slice_dim;
    params.causal = (args.flags & MZT_CAUSAL) != 0;
    params.scale = args.scale;
    params.factor = args.scale * kLog2E;
    params.key_lengths = args.key_lengths;
    params.key_mask = args.key_mask;
    params.key_mask_stride = args.key_mask_stride;
    params.bias = args.bias;
    params.bias_is_float = args.bias_dtype == MZT_FLOAT32;
    for (int each = 0; each < 4; ++each) params.bias_stride[each] = args.bias_stride[each];
    params.bias_in_pairs = bias_in_pairs(args);
    params.dropout = {args.dropout.seed, args.dropout.offset, args.dropout.kept};
    params.table = table_params(args.table);
    params.splits = split_params(instance, args, splits);
    return params;
}

}  // namespace mezzotint
