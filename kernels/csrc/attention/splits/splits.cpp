#include "splits.h"

#include <algorithm>

#include "../../choice.h"
#include "../choose.h"

namespace mezzotint {

namespace {

constexpr int64_t kMostSplits = 16;
constexpr int64_t kLeastKeys = 256;        // of a part
constexpr int64_t kMostBytes = 32 << 20;   // of sums, which should stay in the L2 cache
constexpr double kLeastGain = 1.25;        // an estimate, not measured: usual steps must not become slower
constexpr double kReached = 0.65;          // of the rate of products, with warps enough
constexpr double kCyclesToBegin = 1200;    // until the first keys have arrived
constexpr int64_t kElement = 2, kSum = 4;  // bytes

int64_t rows_of(const MztAttentionArgs& args) { return args.batch * args.heads * args.nq; }
int64_t bytes_of_part(const MztAttentionArgs& args) {
    return rows_of(args) * (args.head_dim * kSum + static_cast<int64_t>(sizeof(RowPart)));
}

// Products of 16-bit numbers with 32-bit sums per multiprocessor and cycle; on Hopper, `mma.sync` reaches less than two
// thirds of the peak.
double products_per_cycle(const DeviceFacts& device) {
    if (halves_32_bit_sums(device)) return 256;
    return device.architecture == 80 ? 1024 : 1270;
}

// Bytes of memory per multiprocessor and cycle, about, of the fastest card of an architecture.
double memory_bytes_per_cycle(const DeviceFacts& device) {
    switch (device.architecture) {
        case 75: return 6;
        case 80: return 13;
        case 86: return 7;
        case 89: return 3;
        case 120: return 4;
        default: return 20;
    }
}

// Cycles until the last multiprocessor is done, of the kernel and of the one that joins. Work is products, or keys and
// values that arrive from the L2 cache, whichever takes longer, but no less than all of them take from memory. With one
// warp for each quarter of a multiprocessor nothing is multiplied while that warp computes weights.
double cycles_of(const Instance& instance, const MztAttentionArgs& args, const DeviceFacts& device, int splits) {
    const int64_t most = divide_up(blocks_of(instance, args, 1) * splits, device.multiprocessors);
    const int64_t resident = resident_blocks(instance, device);
    const int64_t warps = std::min(most, resident) * instance.threads / 32;
    const double busy = warps >= 8 ? 1.0 : warps >= 4 ? 0.8 : 0.2 * static_cast<double>(warps);
    const int64_t keys = divide_up(divide_up(args.nk, instance.tile_n), splits) * instance.tile_n;
    const double columns = instance.head_dim + instance.slice_dim;
    const double multiply = instance.tile_m * columns / (products_per_cycle(device) * kReached * busy);
    const double read = columns * kElement / kCacheBytesPerCycle;
    const double inside = static_cast<double>(most * keys) * std::max(multiply, read);
    const double all = static_cast<double>(args.batch * args.kv_heads * args.nk * args.head_dim * 2 * kElement);
    const double least = all / device.multiprocessors / memory_bytes_per_cycle(device);
    const double written = static_cast<double>(most * instance.tile_m * instance.slice_dim);
    const double ends = divide_up(most, resident) * kCyclesToBegin +
                        written * (splits > 1 ? kSum : kElement) / kCacheBytesPerCycle;
    const double cycles = std::max(inside, least) + ends;
    if (splits == 1) return cycles;
    const double sums = static_cast<double>(split_bytes(args, splits));
    return cycles + kCyclesOfALaunch + sums / device.multiprocessors / kCacheBytesPerCycle;
}

// Where every multiprocessor has a block, none is idle for all of the time.
bool may_split(const Instance& instance, const MztAttentionArgs& args, const DeviceFacts& device) {
    if (instance.kind != Kind::forward || args.table || args.batch * args.heads >= device.multiprocessors) return false;
    return rows_of(args) > 0 && blocks_of(instance, args, 1) < device.multiprocessors;
}

}  // namespace

int64_t split_bytes(const MztAttentionArgs& args, int count) { return count == 1 ? 0 : count * bytes_of_part(args); }

SplitChoice choose_splits(const Instance& instance, const MztAttentionArgs& args, const DeviceFacts& device) {
    if (!may_split(instance, args, device)) return {1, 1};
    const auto cost = [&](int splits) { return cycles_of(instance, args, device, splits); };
    const int64_t most = std::min({kMostSplits, kMostBytes / bytes_of_part(args), args.nk / kLeastKeys});
    const int count = cheapest_splits(most, 0.95, cost);
    const double gain = cost(1) / cost(count) / kLeastGain;
    return gain >= 1 ? SplitChoice{count, gain} : SplitChoice{1, 1};
}

int planned_splits(const Instance& instance, const MztAttentionArgs& args, int64_t workspace_bytes) {
    if (instance.kind != Kind::forward || workspace_bytes == 0) return 1;
    return static_cast<int>(workspace_bytes / bytes_of_part(args));
}

Splits split_params(const Instance& instance, const MztAttentionArgs& args, int count) {
    if (count == 1) return {1, 0, 0, 0, nullptr, nullptr};
    float* sums = static_cast<float*>(args.workspace);
    const int64_t rows = rows_of(args);
    return {count,
            static_cast<int32_t>(blocks_of(instance, args, 1)),
            static_cast<int32_t>(args.head_dim / 8),
            static_cast<int32_t>(rows),
            sums,
            reinterpret_cast<RowPart*>(sums + count * rows * args.head_dim)};
}

}  // namespace mezzotint
