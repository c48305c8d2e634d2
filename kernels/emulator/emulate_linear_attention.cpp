// C entry points of emulated linear attention: run the passes with the library's arguments on the CPU.
#include "../csrc/linear_attention/apply.h"
#include "../csrc/linear_attention/join.h"
#include "../csrc/linear_attention/linear_attention.h"
#include "../csrc/linear_attention/passes.h"
#include "../csrc/linear_attention/plan.h"
#include "../csrc/linear_attention/summarize.h"
#include "run.h"

using namespace mezzotint;

extern "C" {

// Run what launch_linear_attention() launches, in so many splits.
MZT_API void emulator_linear_attention(const MztLinearAttentionArgs* args, int32_t splits,
                                       const EmulatorConditions* conditions, EmulatorReport* report) {
    using namespace linear_attention;
    const LinearAttentionParams params = params_of(*args, splits);
    const Passes passes =
        conditions->turing ? turing_passes_of(args->dtype, args->map) : passes_of(args->dtype, args->map);
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        machine.run(passes.summarize, summarize_blocks(*args, splits), kKeyThreads, kSummarizeBytes, &params);
        machine.run(passes.join, join_blocks(*args), kJoinThreads, kJoinBytes, &params);
        machine.run(passes.apply, apply_blocks(*args), kQueryThreads, kApplyBytes, &params);
    });
}

MZT_API int64_t emulator_linear_attention_workspace_bytes(const MztLinearAttentionArgs* args, int32_t splits) {
    return linear_attention::workspace_bytes(*args, splits);
}

// Return the library's plan for a device with these facts.
MZT_API void emulator_linear_attention_plan(const MztLinearAttentionArgs* args, int32_t architecture,
                                            int32_t multiprocessors, int32_t shared_bytes, MztAttentionPlan* plan) {
    *plan = {sizeof *plan, MZT_ABI_VERSION, 0, 0, 0, ""};
    plan_linear_attention(*args, {architecture, multiprocessors, shared_bytes}, *plan);
}
}
