// C entry points of emulated block-scaled quantization and products: run what the launches queue on the CPU.
#include <cstdio>

#include "../csrc/gemm/block_scaled/choose.h"
#include "../csrc/gemm/choose.h"
#include "../csrc/quantize/block_scaled/rows.h"
#include "../csrc/quantize/blocks.h"
#include "run.h"

using namespace mezzotint;

struct EmulatorBlockScaledInstance {
    int32_t format, dtype, tile_m, tile_n, threads, shared_bytes;
};

extern "C" {

// Return 0 if there is no instance of that number.
MZT_API int32_t emulator_block_scaled_instance(uint32_t number, EmulatorBlockScaledInstance* found) {
    const block_scaled::Instance* instance = block_scaled::instance_of(number);
    if (!instance) return 0;
    const gemm::Instance& tile = instance->tile;
    *found = {instance->format, tile.dtype, tile.tile_m, tile.tile_n, tile.threads, tile.shared_bytes};
    return 1;
}

MZT_API void emulator_block_scaled_linear(const MztBlockScaledLinearArgs* args, uint32_t number,
                                          const EmulatorConditions* conditions, EmulatorReport* report) {
    const block_scaled::Instance& instance = *block_scaled::instance_of(number);
    const block_scaled::BlockScaledParams params = block_scaled::block_scaled_params(instance, *args);
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        machine.run(instance.tile.entry, gemm::blocks_of(instance.tile, args->linear), instance.tile.threads,
                    instance.tile.shared_bytes, &params);
    });
}

// The library's plan for a device with so many multiprocessors; its text, and -1 where there is no kernel.
MZT_API int32_t emulator_block_scaled_plan(const MztBlockScaledLinearArgs* args, int32_t multiprocessors,
                                           int32_t shared_bytes, char* text, int32_t room) {
    LinearPlan plan;
    plan_block_scaled_linear(*args, {120, multiprocessors, shared_bytes}, plan);
    std::snprintf(text, static_cast<size_t>(room), "%s", plan.text);
    return plan.supported ? static_cast<int32_t>(plan.kernel) : -1;
}

MZT_API void emulator_block_scaled_quantize(const MztBlockScaledQuantizeArgs* args, const EmulatorConditions* conditions,
                                            EmulatorReport* report) {
    const quantize::QuantizeParams params = quantize::block_scaled_quantize_params(*args);
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        machine.run(quantize::block_scaled_entry_of(args->rows.dtype, args->rows.preparation, args->format),
                    quantize::blocks_of(params), quantize::threads_of(params), quantize::kSharedBytes, &params);
    });
}
}
