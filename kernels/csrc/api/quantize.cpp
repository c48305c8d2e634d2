// The C ABI of quantization: validates the arguments, queries the device, and calls the kernel.
#include "../quantize/quantize.h"

#include "../api.h"
#include "../gemm/gemm.h"
#include "attention_arguments.h"
#include "devices.h"
#include "last_error.h"
#include "quantize_arguments.h"

namespace {

using namespace mezzotint;

// Check that this library has code for the device.
MztStatus check_device(const MztQuantizeArgs& args, int32_t device) {
    cuda::Attributes attributes;
    if (const MztStatus status = find_device(device, attributes)) return status;
    const int architecture = facts_of(attributes).architecture;
    if (architecture && args.floats && !multiplies_fp8(architecture)) {
        return fail(MZT_UNSUPPORTED, "architecture %d does not multiply floats of 8 bits: RTX 40 and 50 do", architecture);
    }
    if (architecture && !multiplies_integers(architecture)) {
        return fail(MZT_UNSUPPORTED, "no quantized rows on architecture %d, where torch's products of 16 bits are faster",
                    architecture);
    }
    if (architecture) return MZT_OK;
    return fail(MZT_UNSUPPORTED, "device %d has compute capability %d.%d: this library has only %s", device,
                attributes.major, attributes.minor, mzt_architectures());
}

}  // namespace

MztStatus mzt_quantize(const MztQuantizeArgs* args, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args)) return status;
    if (const MztStatus status = check_device(*args, device)) return status;
    if (const MztStatus status = find_unsupported(*args)) return status;
    if (args->rows == 0) return succeed();
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_quantize(*args, stream)) return cuda_status(error, "quantize_rows");
    return succeed();
}
