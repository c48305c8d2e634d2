#include "run.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <vector>

#include "block.h"

namespace mezzotint {
namespace emulator {

namespace {

// Tests put an inaccessible page behind each tensor; touching it must fail one case and not the whole run.
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

}  // namespace

void Machine::run(void (*entry)(const void* params, void* shared), int64_t blocks, int threads, int shared_bytes,
                  const void* params) {
    Conditions wanted;
    wanted.late_copies = conditions_.late_copies;
    wanted.seed = conditions_.seed;
    wanted.stubborn = conditions_.stubborn;
    wanted.late_reads = conditions_.late_reads;
    Block block(threads, shared_bytes, wanted);
    const std::function<void()> body = [&] { entry(params, block.shared()); };
    for (int64_t index = 0; index < blocks; ++index) block.run(index, body);
    report_.bank_conflicts += block.counts.bank_conflicts;
    report_.matrix_loads += block.counts.matrix_loads;
    report_.products += block.counts.products;
}

void run_kernels(const EmulatorConditions& conditions, EmulatorReport& report,
                 const std::function<void(Machine&)>& work) {
    report = {};
    try {
        Machine machine(conditions, report);
        const FaultWatch watch;
        if (sigsetjmp(before_the_fault, 1)) {
            std::snprintf(report.error, sizeof report.error, "memory outside of the tensors was touched");
            return;
        }
        work(machine);
    } catch (const std::exception& error) {
        std::snprintf(report.error, sizeof report.error, "%s", error.what());
    }
}

}  // namespace emulator
}  // namespace mezzotint
