// The C ABI of the linear layer: validates the arguments, queries the device, and calls the kernels.
#include "../api.h"
#include "../gemm/gemm.h"
#include "attention_arguments.h"
#include "devices.h"
#include "last_error.h"
#include "linear_arguments.h"

namespace {

using namespace mezzotint;

// Find the device's facts, if this library has code for it.
MztStatus find_facts(int32_t device, DeviceFacts& facts) {
    cuda::Attributes attributes;
    if (const MztStatus status = find_device(device, attributes)) return status;
    facts = facts_of(attributes);
    if (facts.architecture) return MZT_OK;
    return fail(MZT_UNSUPPORTED, "device %d has compute capability %d.%d: this library has only %s", device,
                attributes.major, attributes.minor, mzt_architectures());
}

}  // namespace

MztStatus mzt_linear(const MztLinearArgs* args, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args)) return status;
    DeviceFacts facts;
    if (const MztStatus status = find_facts(device, facts)) return status;
    if (const MztStatus status = find_unsupported(*args)) return status;
    if (is_empty(*args)) return succeed();
    LinearPlan plan;
    plan_linear(*args, facts, plan);
    if (!plan.supported) return fail(MZT_UNSUPPORTED, "%s", plan.text);
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_linear(*args, plan, stream)) return cuda_status(error, plan.text);
    return succeed();
}
