// C entry point of emulated row quantization: runs what launch_quantize() launches, on the CPU.
#include "../csrc/quantize/blocks.h"
#include "../csrc/quantize/rows.h"
#include "run.h"

using namespace mezzotint;

extern "C" MZT_API void emulator_quantize(const MztQuantizeArgs* args, const EmulatorConditions* conditions,
                                          EmulatorReport* report) {
    const quantize::QuantizeParams params = quantize::quantize_params(*args);
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        machine.run(quantize::entry_of(*args), quantize::blocks_of(params),
                    quantize::threads_of(params), quantize::shared_bytes_of(*args), &params);
    });
}
