// A run of kernels as a test asks for it: under which conditions, what was counted in it, and what went wrong.
#pragma once

#include <cstdint>
#include <functional>

struct EmulatorConditions {
    int32_t late_copies;
    uint32_t seed;
    int32_t turing;
    int32_t tiles_per_block;  // of queries, for a kernel that works through many; 0: as the library would
    int32_t stubborn;
};

struct EmulatorReport {
    int64_t bank_conflicts, matrix_loads, products;
    char error[240];  // empty when all went well
};

namespace mezzotint {
namespace emulator {

// Runs kernels one after the other, and counts.
class Machine {
public:
    Machine(const EmulatorConditions& conditions, EmulatorReport& report) : conditions_(conditions), report_(report) {}

    void run(void (*entry)(const void* params, void* shared), int64_t blocks, int threads, int shared_bytes,
             const void* params);

private:
    const EmulatorConditions& conditions_;
    EmulatorReport& report_;
};

// Do the work on a machine; the report tells what it throws, and when it touches memory outside of the tensors.
void run_kernels(const EmulatorConditions& conditions, EmulatorReport& report,
                 const std::function<void(Machine&)>& work);

}  // namespace emulator
}  // namespace mezzotint
