// C entry points of attention's emulated backward pass: run an instance with the library's arguments on the CPU.
#include "../csrc/attention/backward/choose.h"
#include "../csrc/attention/backward/passes.h"
#include "run.h"

using namespace mezzotint;

struct EmulatorBackwardInstance {
    int32_t head_dim, part_dim, dtype, dropout, tile_m, tile_n, stages, threads, shared_bytes;
};

struct EmulatorBackwardPlan {
    int32_t supported, splits;
    uint32_t kernel;
    int64_t workspace_bytes;
    char text[240];
};

extern "C" {

// Return 0 if there is no instance of that number.
MZT_API int32_t emulator_backward_instance(uint32_t number, EmulatorBackwardInstance* found) {
    const backward_pass::Instance* instance = backward_pass::instance_of(number);
    if (!instance) return 0;
    *found = {instance->head_dim, instance->part_dim, instance->dtype,  instance->dropout,     instance->tile_m,
              instance->tile_n,   instance->stages,   instance->threads, instance->shared_bytes};
    return 1;
}

// Run what launch_backward() launches, in so many splits.
MZT_API void emulator_backward(const MztAttentionBackwardArgs* args, uint32_t number, int32_t splits,
                               const EmulatorConditions* conditions, EmulatorReport* report) {
    const backward_pass::Instance& instance = *backward_pass::instance_of(number);
    const backward_pass::BackwardParams params = backward_pass::params_of(instance, *args, splits);
    const backward_pass::Passes passes = backward_pass::passes_of(instance.dtype);
    constexpr int threads = backward_pass::kPassThreads;
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        machine.run(passes.prepare, backward_pass::prepare_blocks(*args), threads, 0, &params);
        if (args->nk > 0) {
            machine.run(conditions->turing ? instance.turing_entry : instance.entry,
                        backward_pass::main_blocks(instance, *args, splits), instance.threads, instance.shared_bytes, &params);
        }
        machine.run(passes.finish, backward_pass::finish_blocks(*args), threads, 0, &params);
    });
}

MZT_API int64_t emulator_backward_workspace_bytes(const MztAttentionBackwardArgs* args, int32_t splits) {
    return backward_pass::workspace_bytes(*args, splits);
}

// Return the library's plan for a device with these facts.
MZT_API void emulator_backward_plan(const MztAttentionBackwardArgs* args, int32_t architecture, int32_t multiprocessors,
                                    int32_t shared_bytes, EmulatorBackwardPlan* plan) {
    const BackwardPlan made = plan_backward(*args, {architecture, multiprocessors, shared_bytes});
    *plan = {made.supported, made.splits, made.kernel, made.workspace_bytes, ""};
    for (int each = 0; each < 240; ++each) plan->text[each] = made.text[each];
}
}
