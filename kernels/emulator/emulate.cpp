// The C entry to the emulator: an instance and its arguments, as the library takes them, run on the processor.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <vector>

#include "../csrc/attention/choose.h"
#include "../csrc/attention/int8/passes.h"
#include "../csrc/attention/int8/workspace.h"
#include "block.h"

using namespace mezzotint;

struct EmulatorConditions {
    int32_t late_copies;
    uint32_t seed;
    int32_t turing;
    int32_t tiles_per_block;  // of queries, for a kernel that works through many; 0: as the library would
};

struct EmulatorReport {
    int64_t bank_conflicts, matrix_loads, products;
    char error[240];  // empty when all went well
};

struct EmulatorInstance {
    int32_t head_dim, slice_dim, dtype, masked, kind, tile_m, tile_n, threads, shared_bytes;
};

namespace {

// Tests put a page that cannot be touched behind each tensor; touching it must fail one case and not end all of them.
sigjmp_buf before_the_fault;

void leave_the_kernel(int) { siglongjmp(before_the_fault, 1); }

class FaultWatch {
public:
    FaultWatch() : stack_(1 << 16) {
        stack_t alternate{};
        alternate.ss_sp = stack_.data();
        alternate.ss_size = stack_.size();
        sigaltstack(&alternate, &old_stack_);
        struct sigaction action {};
        action.sa_handler = &leave_the_kernel;
        action.sa_flags = SA_ONSTACK;
        sigaction(SIGSEGV, &action, &old_action_);
    }
    ~FaultWatch() {
        sigaction(SIGSEGV, &old_action_, nullptr);
        sigaltstack(&old_stack_, nullptr);
    }

private:
    std::vector<char> stack_;
    stack_t old_stack_{};
    struct sigaction old_action_ {};
};

// Runs kernels one after the other, and counts.
class Machine {
public:
    Machine(const EmulatorConditions& conditions, EmulatorReport& report) : conditions_(conditions), report_(report) {}

    void run(Entry entry, int64_t blocks, int threads, int shared_bytes, const void* params) {
        emulator::Conditions wanted;
        wanted.late_copies = conditions_.late_copies;
        wanted.seed = conditions_.seed;
        emulator::Block block(threads, shared_bytes, wanted);
        const std::function<void()> body = [&] { entry(params, block.shared()); };
        for (int64_t index = 0; index < blocks; ++index) block.run(index, body);
        report_.bank_conflicts += block.counts.bank_conflicts;
        report_.matrix_loads += block.counts.matrix_loads;
        report_.products += block.counts.products;
    }

private:
    const EmulatorConditions& conditions_;
    EmulatorReport& report_;
};

// What launch_attention() queues.
void run(const Instance& instance, const MztAttentionArgs& args, const EmulatorConditions& conditions,
         Machine& machine) {
    ForwardParams forward = forward_params(instance, args);
    if (instance.kind == Kind::short_keys && conditions.tiles_per_block > 0) {
        forward.tiles_per_block = conditions.tiles_per_block;
    }
    const void* params = &forward;
    Int8Params int8{};
    if (instance.kind == Kind::int8) {
        int8 = int8_params(args);
        int8.forward = forward;
        params = &int8;
        const Int8Passes passes = int8_passes(instance.dtype);
        const int shared = int8_pass_shared_bytes(int8);
        machine.run(passes.summarize, summarize_blocks(int8), kPassThreads, shared, params);
        machine.run(passes.quantize, quantize_blocks(int8), kPassThreads, shared, params);
    }
    machine.run(conditions.turing ? instance.turing_entry : instance.entry,
                blocks_of(instance, args, forward.tiles_per_block), instance.threads, instance.shared_bytes, params);
}

}  // namespace

extern "C" {

// 0 when there is no instance of that number.
MZT_API int32_t emulator_instance(uint32_t number, EmulatorInstance* found) {
    const Instance* instance = instance_of(number);
    if (!instance) return 0;
    *found = {instance->head_dim, instance->slice_dim, instance->dtype,   instance->masked,
              static_cast<int32_t>(instance->kind),
              instance->tile_m,   instance->tile_n,    instance->threads, instance->shared_bytes};
    return 1;
}

MZT_API void emulator_forward(const MztAttentionArgs* args, uint32_t number, const EmulatorConditions* conditions,
                              EmulatorReport* report) {
    *report = {};
    try {
        const Instance& instance = *instance_of(number);
        Machine machine(*conditions, *report);
        const FaultWatch watch;
        if (sigsetjmp(before_the_fault, 1)) {
            std::snprintf(report->error, sizeof report->error, "memory outside of the tensors was touched");
            return;
        }
        run(instance, *args, *conditions, machine);
    } catch (const std::exception& error) {
        std::snprintf(report->error, sizeof report->error, "%s", error.what());
    }
}

MZT_API int64_t emulator_workspace_bytes(const MztAttentionArgs* args) { return int8_workspace_bytes(*args); }

// What the library would plan on a device with these facts.
MZT_API void emulator_plan(const MztAttentionArgs* args, int32_t architecture, int32_t multiprocessors,
                           int32_t shared_bytes, MztAttentionPlan* plan) {
    plan_attention(*args, {architecture, multiprocessors, shared_bytes}, *plan);
}
}
