#include "choose.h"

#include <cstdio>

#include "../../choice.h"
#include "../choose.h"

namespace mezzotint {
namespace backward_pass {

namespace {

constexpr int32_t kMostSplits = 32;
constexpr int64_t kAlignment = 256;
constexpr int64_t kLargestSum = INT64_MAX / 1024;  // so that all sums of dq have offsets of 63 bits

int64_t round_up(int64_t a, int64_t to) { return divide_up(a, to) * to; }

bool is_ordered(const MztAttentionBackwardArgs& args) { return (args.flags & MZT_UNORDERED) == 0; }
int64_t key_tiles(const Instance& instance, const MztAttentionBackwardArgs& args) {
    return divide_up(args.nk > 0 ? args.nk : 1, instance.tile_m);
}
int64_t padded_rows(const MztAttentionBackwardArgs& args) { return round_up(args.nq, kRowStep); }
int64_t row_bytes(const MztAttentionBackwardArgs& args) {
    return round_up(args.batch * args.heads * padded_rows(args) * static_cast<int64_t>(sizeof(RowFacts)), kAlignment);
}
int64_t sum_size(const MztAttentionBackwardArgs& args) { return args.batch * args.heads * args.nq * args.head_dim; }

// Blocks of a split; both factors of the grid's size fit into 32 bits, as do their sizes.
int64_t heads_and_slices(const Instance& instance, const MztAttentionBackwardArgs& args) {
    return args.batch * args.kv_heads * (instance.head_dim / instance.part_dim);
}

// Blocks resident on a multiprocessor. Each reserves 1 kB of shared memory in addition to its own.
int resident_blocks(const Instance& instance, const DeviceFacts& device) {
    const int by_memory = (device.shared_bytes + 1024) / (instance.shared_bytes + 1024);
    const int by_registers = 65536 / (255 * instance.threads);
    const int blocks = by_memory < by_registers ? by_memory : by_registers;
    return blocks < 1 ? 1 : blocks;
}

// Estimated fraction of time in which a multiprocessor multiplies: two warps for each of its quarters hide each other's
// waits, a quarter without a warp idles. Few queries at a time are reads of keys for few products; few keys are reads of
// queries, and sums of dq in global memory, for few.
double speed(const Instance& instance, const DeviceFacts& device) {
    const int warps = resident_blocks(instance, device) * instance.threads / 32;
    const double tiles = instance.tile_n >= 64 ? 1.0 : instance.tile_n >= 32 ? 0.9 : 0.7;
    const double keys = instance.tile_m >= 128 ? 1.0 : 0.85;
    const double copies = instance.stages > 1 ? 1.0 : 0.9;
    return tiles * keys * copies * (warps >= 8 ? 1.0 : warps >= 4 ? 0.8 : 0.2 * warps);
}

// Whether an instance's tiles divide the blocks of a table, if there is one.
bool divides_blocks(const Instance& instance, const MztAttentionBackwardArgs& args) {
    return !args.table || (args.table->block_q % instance.tile_m == 0 && args.table->block_k % instance.tile_n == 0);
}

bool fits_grid(const Instance& instance, const MztAttentionBackwardArgs& args) {
    if (args.batch * args.heads > INT32_MAX || args.nq + args.nk + kRowStep + instance.tile_m > INT32_MAX) return false;
    if (prepare_blocks(args) > INT32_MAX) return false;
    if (args.batch * args.heads * args.nq > kLargestSum / args.head_dim) return false;
    if (finish_blocks(args) > INT32_MAX) return false;
    const int64_t splits = is_ordered(args) ? kMostSplits : key_tiles(instance, args);
    return splits <= INT32_MAX / heads_and_slices(instance, args);
}

}  // namespace

const Instance* instance_of(uint32_t number) { return find_instance(instance_lists(), instance_list, number); }

bool runs_on(const Instance& instance, const DeviceFacts& device) {
    if (instance.shared_bytes > device.shared_bytes) return false;
    if (device.architecture >= 80) return true;
    return instance.dtype == MZT_FLOAT16 && instance.shared_bytes <= kTuringSharedBytes;
}

bool serves(const Instance& instance, const MztAttentionBackwardArgs& args) {
    return instance.head_dim == args.head_dim && static_cast<uint32_t>(instance.dtype) == args.dtype &&
           instance.dropout == (args.dropout.kept != 0) && divides_blocks(instance, args);
}

// The multiprocessor with the most blocks finishes last, and of these the one with the most tiles of keys.
double cost_of(const Instance& instance, const MztAttentionBackwardArgs& args, const DeviceFacts& device,
               int32_t splits) {
    const int64_t resident = resident_blocks(instance, device);
    const int64_t waves = divide_up(main_blocks(instance, args, splits), device.multiprocessors * resident);
    const int64_t tiles = divide_up(key_tiles(instance, args), splits) * waves * resident;
    const double products = 2.0 * instance.head_dim + 3.0 * instance.part_dim;
    return static_cast<double>(tiles) * instance.tile_m * products / speed(instance, device);
}

int32_t best_splits(const Instance& instance, const MztAttentionBackwardArgs& args, const DeviceFacts& device) {
    const int64_t tiles = key_tiles(instance, args);
    if (!is_ordered(args)) return static_cast<int32_t>(tiles);
    const int64_t most = tiles < kMostSplits ? tiles : kMostSplits;
    return cheapest_splits(most, 0.95, [&](int splits) { return cost_of(instance, args, device, splits); });
}

int64_t workspace_bytes(const MztAttentionBackwardArgs& args, int32_t splits) {
    const int64_t sums = is_ordered(args) ? splits : 1;
    return row_bytes(args) + sums * sum_size(args) * static_cast<int64_t>(sizeof(float));
}

int64_t prepare_blocks(const MztAttentionBackwardArgs& args) {
    return args.batch * args.heads * (padded_rows(args) / kRowsPerBlock);
}

int64_t main_blocks(const Instance& instance, const MztAttentionBackwardArgs& args, int32_t splits) {
    return heads_and_slices(instance, args) * splits;
}

int64_t finish_blocks(const MztAttentionBackwardArgs& args) { return divide_up(sum_size(args), 8 * kPassThreads); }

BackwardParams params_of(const Instance& instance, const MztAttentionBackwardArgs& args, int32_t splits) {
    const auto strides = [](const int64_t (&from)[3]) { return Strides{from[0], from[1], from[2]}; };
    BackwardParams params{};
    params.q = args.q;
    params.k = args.k;
    params.v = args.v;
    params.out = args.out;
    params.out_gradient = args.out_gradient;
    params.lse = args.lse;
    params.lse_gradient = args.lse_gradient;
    params.dq = args.dq;
    params.dk = args.dk;
    params.dv = args.dv;
    params.q_stride = strides(args.q_stride);
    params.k_stride = strides(args.k_stride);
    params.v_stride = strides(args.v_stride);
    params.out_stride = strides(args.out_stride);
    params.out_gradient_stride = strides(args.out_gradient_stride);
    params.dq_stride = strides(args.dq_stride);
    params.dk_stride = strides(args.dk_stride);
    params.dv_stride = strides(args.dv_stride);
    params.heads = static_cast<int32_t>(args.heads);
    params.kv_heads = static_cast<int32_t>(args.kv_heads);
    params.group = static_cast<int32_t>(args.heads / args.kv_heads);
    params.nq = static_cast<int32_t>(args.nq);
    params.nk = static_cast<int32_t>(args.nk);
    params.head_dim = static_cast<int32_t>(args.head_dim);
    params.padded_rows = static_cast<int32_t>(padded_rows(args));
    params.key_tiles = static_cast<int32_t>(key_tiles(instance, args));
    params.splits = splits;
    params.slices = instance.head_dim / instance.part_dim;
    params.causal = (args.flags & MZT_CAUSAL) != 0;
    params.ordered = is_ordered(args);
    params.scale = args.scale;
    params.factor = args.scale * kLog2E;
    params.key_lengths = args.key_lengths;
    params.key_mask = args.key_mask;
    params.key_mask_stride = args.key_mask_stride;
    params.rows = static_cast<RowFacts*>(args.workspace);
    params.sums = reinterpret_cast<float*>(static_cast<char*>(args.workspace) + row_bytes(args));
    params.sum_size = sum_size(args);
    params.dropout = {args.dropout.seed, args.dropout.offset, args.dropout.kept};
    params.table = table_params(args.table);
    return params;
}

namespace {

void consider(Choice<Instance>& choice, const Instance& instance, uint32_t number, const MztAttentionBackwardArgs& args,
              const DeviceFacts& device) {
    if (!serves(instance, args) || !runs_on(instance, device)) return;
    if (!fits_grid(instance, args)) {
        choice.too_large = true;
        return;
    }
    choice.offer(instance, number, cost_of(instance, args, device, best_splits(instance, args, device)));
}

Choice<Instance> choose(const MztAttentionBackwardArgs& args, const DeviceFacts& device) {
    Choice<Instance> choice;
    visit_instances(instance_lists(), instance_list, [&](const Instance& instance, uint32_t number) {
        consider(choice, instance, number, args, device);
    });
    return choice;
}

}  // namespace

BackwardPlan plan_of(const MztAttentionBackwardArgs& args, const DeviceFacts& device) {
    const Choice<Instance> choice = choose(args, device);
    BackwardPlan plan{choice.best != nullptr, choice.number, 1, 0, ""};
    if (const Instance* best = choice.best) {
        plan.splits = best_splits(*best, args, device);
        plan.workspace_bytes = workspace_bytes(args, plan.splits);
        std::snprintf(plan.text, sizeof plan.text, "backward %s d%d %dx%d, %d splits%s%s", name_of(best->dtype),
                      best->head_dim, best->tile_m, best->tile_n, plan.splits,
                      args.flags & MZT_UNORDERED ? " unordered" : "", best->dropout ? " dropout" : "");
    } else if (choice.too_large) {
        std::snprintf(plan.text, sizeof plan.text,
                      "gradients of a batch of %lld with %lld heads of %lld queries are more than a card's grid of "
                      "blocks takes",
                      static_cast<long long>(args.batch), static_cast<long long>(args.heads),
                      static_cast<long long>(args.nq));
    } else {
        std::snprintf(plan.text, sizeof plan.text,
                      "no %sbackward kernel for head size %lld in %s on architecture %d with %d bytes of shared memory",
                      args.dropout.kept ? "dropout " : "", static_cast<long long>(args.head_dim),
                      name_of(static_cast<MztDtype>(args.dtype)), device.architecture, device.shared_bytes);
    }
    return plan;
}

}  // namespace backward_pass

BackwardPlan plan_backward(const MztAttentionBackwardArgs& args, const DeviceFacts& device) {
    return backward_pass::plan_of(args, device);
}

}  // namespace mezzotint
