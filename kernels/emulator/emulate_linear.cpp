// C entry points of the emulated linear layer: run an instance with the library's arguments on the CPU.
#include <cstdio>

#include "../csrc/gemm/choose.h"
#include "run.h"

using namespace mezzotint;
using namespace mezzotint::gemm;

struct EmulatorLinearInstance {
    int32_t weight_bits, x_bits, dtype, tile_m, tile_n, threads, shared_bytes, turing_shared_bytes, is_grouped,
        has_codebook, floats, is_gated;
};

struct EmulatorLinearPlan {
    int32_t supported, kernel, shared_bytes;
    char text[240];
};

extern "C" {

// Return 0 if there is no instance of that number.
MZT_API int32_t emulator_linear_instance(uint32_t number, EmulatorLinearInstance* found) {
    const Instance* instance = instance_of(number);
    if (!instance) return 0;
    *found = {instance->weight_bits, instance->x_bits,  instance->dtype,        instance->tile_m,
              instance->tile_n,      instance->threads, instance->shared_bytes, instance->turing_shared_bytes,
              instance->is_grouped,  instance->has_codebook, instance->floats, instance->is_gated};
    return 1;
}

// Run what launch_linear() launches.
MZT_API void emulator_linear(const MztLinearArgs* args, uint32_t number, const EmulatorConditions* conditions,
                             EmulatorReport* report) {
    const Instance& instance = *instance_of(number);
    const LinearParams params = linear_params(instance, *args);
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        const Entry later = conditions->hopper ? instance.hopper_entry : instance.entry;
        machine.run(conditions->turing ? instance.turing_entry : later, blocks_of(instance, *args),
                    instance.threads, conditions->turing ? instance.turing_shared_bytes : instance.shared_bytes,
                    &params);
    });
}

// Return the library's plan for a device with these facts.
MZT_API void emulator_linear_plan(const MztLinearArgs* args, int32_t architecture, int32_t multiprocessors,
                                  int32_t shared_bytes, EmulatorLinearPlan* plan) {
    LinearPlan made;
    plan_linear(*args, {architecture, multiprocessors, shared_bytes}, made);
    *plan = {made.supported, static_cast<int32_t>(made.kernel), made.shared_bytes, ""};
    std::snprintf(plan->text, sizeof plan->text, "%s", made.text);
}
}
