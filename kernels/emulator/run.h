// A run of kernels requested by a test: its conditions, counters and error.
#pragma once

#include <cstdint>
#include <functional>

struct EmulatorConditions {
    int32_t late_copies;
    uint32_t seed;
    int32_t turing;
    int32_t tiles_per_block;  // query tiles, for kernels that process several; 0: as the library chooses; splits of a product
    int32_t stubborn;
    int32_t hopper;
    int32_t late_reads;
};

struct EmulatorReport {
    int64_t bank_conflicts, matrix_loads, products;
    char error[240];  // empty on success
};

namespace mezzotint {
namespace emulator {

// Runs kernels one after the other, and accumulates counters.
class Machine {
public:
    Machine(const EmulatorConditions& conditions, EmulatorReport& report) : conditions_(conditions), report_(report) {}

    void run(void (*entry)(const void* params, void* shared), int64_t blocks, int threads, int shared_bytes,
             const void* params);

private:
    const EmulatorConditions& conditions_;
    EmulatorReport& report_;
};

// Run `work` on a machine; exceptions and accesses outside of the tensors go to the report.
void run_kernels(const EmulatorConditions& conditions, EmulatorReport& report,
                 const std::function<void(Machine&)>& work);

}  // namespace emulator
}  // namespace mezzotint
