// The C ABI of block-scaled quantization and products: validates the arguments, queries the device, calls the kernels.
#include <cstring>

#include "../block_scaled.h"
#include "../../../quantize/block_scaled/rows.h"
#include "../../../api/attention_arguments.h"
#include "arguments.h"
#include "../../../api/devices.h"
#include "../../../api/last_error.h"
#include "../../../api/linear_arguments.h"

namespace {

using namespace mezzotint;

// Find the device's facts, if it multiplies such numbers and this library has code of its family.
MztStatus find_facts(int32_t device, DeviceFacts& facts) {
    cuda::Attributes attributes;
    if (const MztStatus status = find_device(device, attributes)) return status;
    facts = facts_of(attributes);
    if (attributes.major == 12 && std::strstr(mzt_architectures(), "sm_120f")) return MZT_OK;
    return fail(MZT_UNSUPPORTED,
                "device %d has compute capability %d.%d: block-scaled numbers need 12.x and a library with sm_120f; this "
                "one has %s", device, attributes.major, attributes.minor, mzt_architectures());
}

}  // namespace

MztStatus mzt_block_scaled_quantize(const MztBlockScaledQuantizeArgs* args, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args)) return status;
    DeviceFacts facts;
    if (const MztStatus status = find_facts(device, facts)) return status;
    if (const MztStatus status = find_unsupported(*args)) return status;
    if (args->rows.rows == 0) return succeed();
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_block_scaled_quantize(*args, stream)) {
        return cuda_status(error, "block_scaled_quantize_rows");
    }
    return succeed();
}

MztStatus mzt_block_scaled_linear(const MztBlockScaledLinearArgs* args, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args)) return status;
    DeviceFacts facts;
    if (const MztStatus status = find_facts(device, facts)) return status;
    if (const MztStatus status = find_unsupported(*args)) return status;
    if (is_empty(args->linear)) return succeed();
    LinearPlan plan;
    plan_block_scaled_linear(*args, facts, plan);
    if (!plan.supported) return fail(MZT_UNSUPPORTED, "%s", plan.text);
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_block_scaled_linear(*args, plan, stream)) return cuda_status(error, plan.text);
    return succeed();
}
