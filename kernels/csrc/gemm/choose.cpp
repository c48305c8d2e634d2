#include "choose.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../choice.h"

namespace mezzotint {

namespace gemm {

namespace {

constexpr double kSharedBytesPerCycle = 128;
constexpr double kCyclesToBegin = 1200;     // until the first tile has arrived and the first output is being written
constexpr double kBytesOfAnOutput = 4;      // the output itself, and what is added to it
constexpr double kBytesOfASum = 4;
constexpr int64_t kMostSplits = 16;

// Floats of 8 bits have half the rate of integers, with sums of 32 bits; of the cards that multiply them, none has more.
constexpr double kFp8ProductsPerCycle = 512;

// Products per multiprocessor and cycle. On Hopper, `mma.sync` reaches less than two thirds of the peak. Those of 4 bits
// are twice as many; from Hopper on they are of 8 bits, beside which registers are unpacked.
double products_per_cycle(const Instance& instance, int architecture) {
    if (instance.products_per_cycle) return instance.products_per_cycle;
    if (instance.floats) return kFp8ProductsPerCycle;
    const bool is_int4 = instance.x_bits == 4;
    if (architecture >= 90) return (architecture == 90 ? 2600 : 1024) * (is_int4 ? 0.8 : 1.0);
    return (architecture == 80 ? 2048 : 1024) * (is_int4 ? 2 : 1);
}

// Blocks resident on a multiprocessor. From sm_80 on, each reserves 1 kB of shared memory in addition to its own.
int resident_blocks(const Instance& instance, const DeviceFacts& device) {
    const int shared = shared_bytes_on(instance, device.architecture);
    const int own = device.architecture >= 80 ? 1024 : 0;
    const int by_memory = (device.shared_bytes + own) / (shared + own);
    const int registers = instance.rows_per_warp * instance.columns_per_warp / 32 + 96;
    const int by_registers = 65536 / (registers * instance.threads);
    const int blocks = by_memory < by_registers ? by_memory : by_registers;
    return blocks < 1 ? 1 : blocks;
}

// Cycles per product on a multiprocessor: for multiplying, for reading shared memory, and for reading beyond it. The
// longest hides the others, though not completely.
double cycles_per_product(const Instance& instance, int architecture) {
    const auto bytes = [](int rows, int columns) { return 1.0 / rows + 1.0 / columns; };  // per product of a tile
    const double multiply = 1 / products_per_cycle(instance, architecture);
    const double weight_bytes = instance.weight_bits / 8.0, x_bytes = instance.x_bits / 8.0;
    const bool is_widened = instance.weight_bits < instance.x_bits;
    const double widen = is_widened ? 1.5 / instance.tile_m : 0;  // read, and written at twice the width
    const double loaded = bytes(instance.rows_per_warp, instance.columns_per_warp) * x_bytes;
    const double shared = (loaded + widen) / kSharedBytesPerCycle;
    const double beyond = (x_bytes / instance.tile_n + weight_bytes / instance.tile_m) / kCacheBytesPerCycle;
    // Scales by group take twelve instructions to a product of 16 x 8 x 64, of four a cycle.
    const double rescale = instance.is_grouped ? 12 / 4.0 / (16 * 8 * 64) : 0;
    // Looking up a number takes seven, for all rows of the tile.
    const double look_up = instance.has_codebook ? 7 / 4.0 / 32 / instance.tile_m : 0;
    const double instructions = rescale + look_up;
    return std::sqrt(multiply * multiply + shared * shared + beyond * beyond + instructions * instructions);
}

// Columns of the output in a tile.
int64_t out_columns_of(const Instance& instance) { return instance.is_gated ? instance.tile_n / 2 : instance.tile_n; }

// Whether a tile of the output has one layer's columns and whole heads. A gated unit's have those of both layers.
bool divides_parts(const Instance& instance, const MztLinearArgs& args) {
    if (is_gated(args)) return true;
    for (uint32_t number = 0; number < args.part_count; ++number) {
        if (args.parts[number].out_columns % instance.tile_n) return false;
    }
    return !args.part_count || !args.head_dim || instance.tile_n % static_cast<int>(args.head_dim) == 0;
}

// Whether the instance supports the product on any device.
bool serves(const Instance& instance, const MztLinearArgs& args) {
    return static_cast<uint32_t>(instance.weight_bits) == args.weight_bits &&
           static_cast<uint32_t>(instance.x_bits) == args.x_bits &&
           static_cast<uint32_t>(instance.dtype) == args.dtype &&
           instance.is_grouped == (args.x_group_scales || args.weight_group_scales) &&
           instance.has_codebook == (args.codebook != nullptr) && instance.floats == (args.floats != 0) &&
           instance.is_gated == is_gated(args) && instance.is_convolution == is_convolution(args) &&
           divides_parts(instance, args);
}

// Pointers of a part as if its first column were the output's, so that columns need no other number within it.
LinearPart part_of(const MztLinearPart& part, int64_t begin, int64_t weight_stride) {
    const auto before = [](const void* pointer, int64_t bytes) {
        return pointer ? reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(pointer) - bytes) : nullptr;
    };
    return {before(part.weight, begin * weight_stride),
            static_cast<const float*>(before(part.weight_scales, begin * 4)),
            before(part.bias, begin * 2),
            part.norm_weight,
            static_cast<int32_t>(begin + part.out_columns),
            part.flags};
}

void add_parts(LinearParams& params, const MztLinearArgs& args) {
    int64_t begin = 0;
    for (uint32_t number = 0; number < args.part_count; ++number) {
        params.parts[number] = part_of(args.parts[number], begin, args.weight_stride);
        begin += is_gated(args) ? 0 : args.parts[number].out_columns;
    }
    params.part_count = static_cast<int32_t>(args.part_count);
    params.head_dim = static_cast<int32_t>(args.head_dim);
    params.rotations = args.rotations;
    params.rotation_rows = static_cast<int32_t>(args.rotation_rows < INT32_MAX ? args.rotation_rows : INT32_MAX);
    params.epsilon = args.epsilon;
}

void add_images(LinearParams& params, const MztLinearArgs& args) {
    const int64_t out_width = pixels_along(args, args.image_width);
    params.image_height = static_cast<int32_t>(args.image_height);
    params.image_width = static_cast<int32_t>(args.image_width);
    params.image_step = static_cast<int32_t>(args.image_stride);
    params.out_width = static_cast<int32_t>(out_width);
    params.out_pixels = static_cast<int32_t>(pixels_along(args, args.image_height) * out_width);
}

void consider(Choice<Instance>& choice, const Instance& instance, uint32_t number, const MztLinearArgs& args,
              const DeviceFacts& device) {
    if (!serves(instance, args) || !runs_on(instance, device)) return;
    const int splits = splits_of(instance, args, device);
    if (instance.join_entry && splits == 1) return;
    if (blocks_of(instance, args) > INT32_MAX) {
        choice.too_large = true;
        return;
    }
    const double cost = cost_of(instance, args, device, splits);
    choice.offer(instance, number, cost);
}

Choice<Instance> choose(const MztLinearArgs& args, const DeviceFacts& device) {
    Choice<Instance> choice;
    visit_instances(instance_lists(), instance_list, [&](const Instance& instance, uint32_t number) {
        consider(choice, instance, number, args, device);
    });
    return choice;
}

const char* kind_of(const Instance& instance) {
    if (instance.is_grouped) return " by group";
    if (instance.has_codebook) return " codebook";
    if (instance.is_gated) return " gated";
    if (instance.is_convolution) return " convolution";
    return instance.join_entry ? " split" : "";
}

}  // namespace

const Instance* instance_of(uint32_t number) { return find_instance(instance_lists(), instance_list, number); }

int shared_bytes_on(const Instance& instance, int architecture) {
    return architecture >= 80 ? instance.shared_bytes : instance.turing_shared_bytes;
}

bool runs_on(const Instance& instance, const DeviceFacts& device) {
    if (shared_bytes_on(instance, device.architecture) > device.shared_bytes) return false;
    if (instance.floats) return multiplies_fp8(device.architecture);
    if (!multiplies_integers(device.architecture)) return false;
    return device.architecture >= 80 || instance.dtype == MZT_FLOAT16;
}

int64_t blocks_of(const Instance& instance, const MztLinearArgs& args) {
    return divide_up(args.rows, instance.tile_m) * divide_up(args.out_columns, out_columns_of(instance));
}

// The multiprocessor with the most blocks finishes last. With one warp per quarter of the multiprocessor, nothing is
// multiplied while that warp waits; a lone block waits for its first tiles and its output, while several blocks overlap
// these waits.
double cost_of(const Instance& instance, const MztLinearArgs& args, const DeviceFacts& device, int splits) {
    const int64_t most = divide_up(blocks_of(instance, args) * splits, device.multiprocessors);
    const int64_t resident = resident_blocks(instance, device);
    const int64_t at_once = most < resident ? most : resident;
    const double lone_warps = at_once * instance.threads / 32 < 8 ? 1.3 : 1;
    const double tile = static_cast<double>(instance.tile_m) * instance.tile_n;
    const double depth = static_cast<double>(divide_up(args.in * (is_convolution(args) ? kTaps : 1), splits));
    const double inside = tile * depth * cycles_per_product(instance, device.architecture) * lone_warps;
    const double outputs = static_cast<double>(instance.tile_m) * static_cast<double>(out_columns_of(instance));
    const double ends = kCyclesToBegin + outputs * kBytesOfAnOutput / kCacheBytesPerCycle;
    const double cost = most * (inside + ends / at_once);
    if (splits == 1) return cost;
    const int64_t joined = divide_up(blocks_of(instance, args), device.multiprocessors);
    return cost + kCyclesOfALaunch + joined * (ends + tile * kBytesOfASum * splits / kCacheBytesPerCycle);
}

int splits_of(const Instance& instance, const MztLinearArgs& args, const DeviceFacts& device) {
    if (!instance.join_entry || !args.workspace) return 1;
    const int64_t tile_bytes = static_cast<int64_t>(instance.tile_m) * instance.tile_n * 4;
    const int64_t room = args.workspace_bytes / tile_bytes / blocks_of(instance, args);
    const int64_t most = std::min({kMostSplits, room, args.in / (2 * kTileDepth)});
    return cheapest_splits(most, 1, [&](int splits) { return cost_of(instance, args, device, splits); });
}

LinearParams linear_params(const Instance& instance, const MztLinearArgs& args, int splits) {
    constexpr int64_t element = 2;  // bytes
    LinearParams params{};
    params.x = args.x;
    params.x_stride = args.x_stride;
    params.x_scales = args.x_scales;
    params.weight = args.weight;
    params.weight_stride = args.weight_stride;
    params.weight_scales = args.weight_scales;
    params.group_scales = args.group_scales;
    params.group_scales_stride = args.group_scales_stride;
    params.rows = static_cast<int32_t>(args.rows);
    params.in_bytes = static_cast<int32_t>(args.in * args.x_bits / 8);
    params.out_columns = static_cast<int32_t>(args.out_columns);
    params.bias = args.bias;
    params.branch_x = args.rank > 0 ? args.branch_x : nullptr;
    params.branch_up = args.branch_up;
    params.branch_x_stride = args.branch_x_stride * element;
    params.branch_up_stride = args.branch_up_stride * element;
    params.rank = static_cast<int32_t>(args.rank);
    params.gate = args.gate;
    params.rows_per_batch = static_cast<int32_t>(args.rows_per_batch < INT32_MAX ? args.rows_per_batch : INT32_MAX);
    params.gate_stride = args.gate_stride * element;
    params.residual = args.residual;
    params.residual_stride = args.residual_stride * element;
    params.out = args.out;
    params.out_stride = args.out_stride * element;
    params.row_tiles = static_cast<int32_t>(divide_up(args.rows, instance.tile_m));
    params.column_tiles = static_cast<int32_t>(divide_up(args.out_columns, out_columns_of(instance)));
    params.activation = args.activation;
    params.splits = splits;
    params.tiles_per_split = static_cast<int32_t>(divide_up(divide_up(params.in_bytes, kTileDepth), splits));
    params.partial_sums = splits > 1 ? args.workspace : nullptr;
    params.codebook = args.codebook;
    params.x_group_scales = args.x_group_scales;
    params.weight_group_scales = args.weight_group_scales;
    params.x_group_scales_stride = args.x_group_scales_stride * 4;
    params.weight_group_scales_stride = args.weight_group_scales_stride * 2;
    if (args.part_count) add_parts(params, args);
    if (is_convolution(args)) add_images(params, args);
    params.shares_weight_scale = args.shares_weight_scale != 0;
    return params;
}

}  // namespace gemm

void plan_linear(const MztLinearArgs& args, const DeviceFacts& device, LinearPlan& plan) {
    const Choice<gemm::Instance> choice = gemm::choose(args, device);
    const gemm::Instance* best = choice.best;
    plan = LinearPlan{best != nullptr, choice.number, 0, ""};
    const int bits = static_cast<int>(args.weight_bits);
    if (best) {
        plan.shared_bytes = gemm::shared_bytes_on(*best, device.architecture);
        plan.splits = gemm::splits_of(*best, args, device);
        const char* kind = gemm::kind_of(*best);
        std::snprintf(plan.text, sizeof plan.text, "linear %sw%da%d%s %s %dx%d", best->floats ? "fp8 " : "", bits,
                      best->x_bits, kind, name_of(static_cast<MztDtype>(args.dtype)), best->tile_m, best->tile_n);
    } else if (choice.too_large) {
        std::snprintf(plan.text, sizeof plan.text,
                      "%lld rows of %lld columns are more than a card's grid of blocks takes",
                      static_cast<long long>(args.rows), static_cast<long long>(args.out_columns));
    } else if (args.floats && !multiplies_fp8(device.architecture)) {
        std::snprintf(plan.text, sizeof plan.text,
                      "architecture %d does not multiply floats of 8 bits: RTX 40 and 50 do", device.architecture);
    } else if (!multiplies_integers(device.architecture)) {
        std::snprintf(plan.text, sizeof plan.text,
                      "no product of %d-bit weights on architecture %d, where torch's of 16 bits are faster", bits,
                      device.architecture);
    } else {
        std::snprintf(plan.text, sizeof plan.text,
                      "no product of %d-bit weights and %d-bit x in %s on architecture %d with %d bytes of shared memory",
                      bits, static_cast<int>(args.x_bits),
                      name_of(static_cast<MztDtype>(args.dtype)), device.architecture, device.shared_bytes);
    }
}

}  // namespace mezzotint
