// C entry points of emulated GroupNorm: run the passes with the library's arguments on the CPU.
#include "../csrc/group_norm/join.h"
#include "../csrc/group_norm/measure.h"
#include "../csrc/group_norm/passes.h"
#include "../csrc/group_norm/plan.h"
#include "run.h"

using namespace mezzotint;

extern "C" {

// Run what launch_group_norm() launches.
MZT_API void emulator_group_norm(const MztGroupNormArgs* args, const EmulatorConditions* conditions,
                                 EmulatorReport* report) {
    using namespace group_norm;
    const GroupNormParams params = params_of(*args);
    const Passes passes = passes_of(args->dtype, args->silu != 0);
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        machine.run(passes.measure, blocks_of(*args), kThreads, kMeasureBytes, &params);
        machine.run(passes.join, args->batch * args->groups, kJoinThreads, kJoinBytes, &params);
        machine.run(passes.normalize, blocks_of(*args), kThreads, 0, &params);
    });
}

MZT_API int64_t emulator_group_norm_workspace_bytes(const MztGroupNormArgs* args) {
    return group_norm::workspace_bytes(*args);
}
}
