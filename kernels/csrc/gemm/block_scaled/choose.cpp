#include "choose.h"

#include <cstdio>

#include "../../choice.h"
#include "../choose.h"

namespace mezzotint {

namespace block_scaled {

namespace {

const char* name_of_format(uint32_t format) { return format == MZT_NVFP4 ? "nvfp4" : "mxfp8"; }

Choice<Instance> choose(const MztBlockScaledLinearArgs& args, const DeviceFacts& device) {
    Choice<Instance> choice;
    visit_instances(instance_lists(), instance_list, [&](const Instance& instance, uint32_t number) {
        if (static_cast<uint32_t>(instance.format) != args.format) return;
        if (static_cast<uint32_t>(instance.tile.dtype) != args.linear.dtype) return;
        if (instance.tile.shared_bytes > device.shared_bytes) return;
        if (gemm::blocks_of(instance.tile, args.linear) > INT32_MAX) {
            choice.too_large = true;
            return;
        }
        choice.offer(instance, number, gemm::cost_of(instance.tile, args.linear, device));
    });
    return choice;
}

}  // namespace

const Instance* instance_of(uint32_t number) { return find_instance(instance_lists(), instance_list, number); }

BlockScaledParams block_scaled_params(const Instance& instance, const MztBlockScaledLinearArgs& args) {
    BlockScaledParams params{};
    params.linear = gemm::linear_params(instance.tile, args.linear);
    params.x_block_scales = args.x_block_scales;
    params.weight_block_scales = args.weight_block_scales;
    params.x_block_scales_stride = args.x_block_scales_stride;
    params.weight_block_scales_stride = args.weight_block_scales_stride;
    params.weight_scale = args.weight_scale;
    return params;
}

}  // namespace block_scaled

void plan_block_scaled_linear(const MztBlockScaledLinearArgs& args, const DeviceFacts& device, LinearPlan& plan) {
    const Choice<block_scaled::Instance> choice = block_scaled::choose(args, device);
    plan = LinearPlan{choice.best != nullptr, choice.number, 0, ""};
    const char *format = block_scaled::name_of_format(args.format),
               *dtype = name_of(static_cast<MztDtype>(args.linear.dtype));
    if (choice.best) {
        const gemm::Instance& tile = choice.best->tile;
        plan.shared_bytes = tile.shared_bytes;
        std::snprintf(plan.text, sizeof plan.text, "linear %s %s %dx%d", format, dtype, tile.tile_m, tile.tile_n);
    } else if (choice.too_large) {
        std::snprintf(plan.text, sizeof plan.text,
                      "%lld rows of %lld columns are more than a card's grid of blocks takes",
                      static_cast<long long>(args.linear.rows), static_cast<long long>(args.linear.out_columns));
    } else {
        std::snprintf(plan.text, sizeof plan.text, "no product of %s in %s with %d bytes of shared memory", format, dtype,
                      device.shared_bytes);
    }
}

}  // namespace mezzotint
