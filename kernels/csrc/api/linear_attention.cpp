// The C ABI of linear attention: validates the arguments, queries the device, and calls the kernels.
#include "../linear_attention/linear_attention.h"

#include <cstdio>

#include "devices.h"
#include "last_error.h"
#include "linear_attention_arguments.h"

namespace {

using namespace mezzotint;

// Plan for valid arguments; if no kernel fits, `supported` is 0 and the text gives the reason.
MztStatus make_plan(const MztLinearAttentionArgs& args, int32_t device, MztAttentionPlan& plan) {
    plan = MztAttentionPlan{sizeof plan, MZT_ABI_VERSION, 0, 0, 0, ""};
    cuda::Attributes attributes;
    if (const MztStatus status = find_device(device, attributes)) return status;
    if (find_unsupported(args)) {
        std::snprintf(plan.text, sizeof plan.text, "%s", last_error());
        return succeed();
    }
    const DeviceFacts facts = facts_of(attributes);
    if (facts.architecture == 0) {
        std::snprintf(plan.text, sizeof plan.text,
                      "device %d has compute capability %d.%d: this library has only %s", device, attributes.major,
                      attributes.minor, mzt_architectures());
    } else if (is_empty(args)) {
        plan.supported = 1;
        std::snprintf(plan.text, sizeof plan.text, "nothing to compute");
    } else {
        plan_linear_attention(args, facts, plan);
    }
    return succeed();
}

}  // namespace

MztStatus mzt_linear_attention_plan(const MztLinearAttentionArgs* args, int32_t device, MztAttentionPlan* plan) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = check_version(plan, sizeof *plan, "plan")) return status;
    if (const MztStatus status = find_mistake(*args, Purpose::plan)) return status;
    return make_plan(*args, device, *plan);
}

MztStatus mzt_linear_attention(const MztLinearAttentionArgs* args, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args, Purpose::launch)) return status;
    MztAttentionPlan plan;
    if (const MztStatus status = make_plan(*args, device, plan)) return status;
    if (!plan.supported) return fail(MZT_UNSUPPORTED, "%s", plan.text);
    if (is_empty(*args)) return succeed();
    if (const MztStatus status = check_workspace(as_forward(*args), plan.workspace_bytes)) return status;
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_linear_attention(*args, plan, stream)) return cuda_status(error, plan.text);
    return succeed();
}
