// The C entry to the emulator: an instance and its arguments, as the library takes them, run on the processor.
#include <cstdio>
#include <exception>

#include "../csrc/attention/choose.h"
#include "block.h"

using namespace mezzotint;

extern "C" {

struct EmulatorConditions {
    int32_t late_copies;
    uint32_t seed;
    int32_t turing;
};

struct EmulatorReport {
    int64_t bank_conflicts, matrix_loads, products;
    char error[240];  // empty when all went well
};

struct EmulatorInstance {
    int32_t head_dim, slice_dim, dtype, masked, tile_m, tile_n, threads, shared_bytes;
};

// 0 when there is no instance of that number.
MZT_API int32_t emulator_instance(uint32_t number, EmulatorInstance* found) {
    const Instance* instance = instance_of(number);
    if (!instance) return 0;
    *found = {instance->head_dim, instance->slice_dim, instance->dtype,   instance->masked,
              instance->tile_m,   instance->tile_n,    instance->threads, instance->shared_bytes};
    return 1;
}

MZT_API void emulator_forward(const MztAttentionArgs* args, uint32_t number, const EmulatorConditions* conditions,
                              EmulatorReport* report) {
    *report = {};
    try {
        const Instance& instance = *instance_of(number);
        const ForwardParams params = forward_params(instance, *args);
        emulator::Conditions wanted;
        wanted.late_copies = conditions->late_copies;
        wanted.seed = conditions->seed;
        emulator::Block block(instance.threads, instance.shared_bytes, wanted);
        const Entry entry = conditions->turing ? instance.turing_entry : instance.entry;
        const std::function<void()> body = [&] { entry(params, block.shared()); };
        for (int64_t index = 0; index < blocks_of(instance, *args); ++index) block.run(index, body);
        report->bank_conflicts = block.counts.bank_conflicts;
        report->matrix_loads = block.counts.matrix_loads;
        report->products = block.counts.products;
    } catch (const std::exception& error) {
        std::snprintf(report->error, sizeof report->error, "%s", error.what());
    }
}

// What the library would plan on a device with these facts.
MZT_API void emulator_plan(const MztAttentionArgs* args, int32_t architecture, int32_t multiprocessors,
                           int32_t shared_bytes, MztAttentionPlan* plan) {
    plan_attention(*args, {architecture, multiprocessors, shared_bytes}, *plan);
}
}
