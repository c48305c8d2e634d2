// C entry points of the emulated linear layer: run an instance with the library's arguments on the CPU.
#include <cstdio>

#include "../csrc/gemm/choose.h"
#include "run.h"

using namespace mezzotint;
using namespace mezzotint::gemm;

struct EmulatorLinearInstance {
    int32_t weight_bits, x_bits, dtype, tile_m, tile_n, threads, shared_bytes, turing_shared_bytes, is_grouped,
        has_codebook, floats, is_gated, is_split, is_convolution;
};

struct EmulatorLinearPlan {
    int32_t supported, kernel, shared_bytes;
    char text[240];
    int32_t splits;
};

extern "C" {

// Return 0 if there is no instance of that number.
MZT_API int32_t emulator_linear_instance(uint32_t number, EmulatorLinearInstance* found) {
    const Instance* instance = instance_of(number);
    if (!instance) return 0;
    *found = {instance->weight_bits, instance->x_bits,  instance->dtype,        instance->tile_m,
              instance->tile_n,      instance->threads, instance->shared_bytes, instance->turing_shared_bytes,
              instance->is_grouped,  instance->has_codebook, instance->floats, instance->is_gated,
              instance->join_entry != nullptr, instance->is_convolution};
    return 1;
}

// Run what launch_linear() launches.
MZT_API void emulator_linear(const MztLinearArgs* args, uint32_t number, const EmulatorConditions* conditions,
                             EmulatorReport* report) {
    const Instance& instance = *instance_of(number);
    const int splits = instance.join_entry ? conditions->tiles_per_block : 1;
    const LinearParams params = linear_params(instance, *args, splits);
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        const Entry later = conditions->hopper ? instance.hopper_entry : instance.entry;
        const int shared = conditions->turing ? instance.turing_shared_bytes : instance.shared_bytes;
        const int64_t blocks = blocks_of(instance, *args);
        machine.run(conditions->turing ? instance.turing_entry : later, blocks * splits, instance.threads, shared,
                    &params);
        if (!instance.join_entry) return;
        machine.run(conditions->turing ? instance.turing_join_entry : instance.join_entry, blocks, instance.threads,
                    shared, &params);
    });
}

// Return the library's plan for a device with these facts.
MZT_API void emulator_linear_plan(const MztLinearArgs* args, int32_t architecture, int32_t multiprocessors,
                                  int32_t shared_bytes, EmulatorLinearPlan* plan) {
    LinearPlan made;
    plan_linear(*args, {architecture, multiprocessors, shared_bytes}, made);
    *plan = {made.supported, static_cast<int32_t>(made.kernel), made.shared_bytes, "", made.splits};
    std::snprintf(plan->text, sizeof plan->text, "%s", made.text);
}
}
