// The C ABI of attention's backward pass: validates the arguments, queries the device, and calls the kernels.
#include "../attention/backward/backward.h"

#include <cstdio>

#include "backward_arguments.h"
#include "devices.h"
#include "last_error.h"

namespace {

using namespace mezzotint;

// Plan for valid arguments; if no kernel fits, `supported` is false and the text gives the reason.
MztStatus make_plan(const MztAttentionBackwardArgs& args, int32_t device, BackwardPlan& plan) {
    plan = BackwardPlan{false, 0, 1, 0, ""};
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
        plan.supported = true;
        std::snprintf(plan.text, sizeof plan.text, "nothing to compute");
    } else {
        plan = plan_backward(args, facts);
    }
    return succeed();
}

}  // namespace

MztStatus mzt_attention_backward_plan(const MztAttentionBackwardArgs* args, int32_t device, MztAttentionPlan* plan) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = check_version(plan, sizeof *plan, "plan")) return status;
    if (const MztStatus status = find_mistake(*args, Purpose::plan)) return status;
    BackwardPlan made;
    if (const MztStatus status = make_plan(*args, device, made)) return status;
    *plan = MztAttentionPlan{sizeof *plan, MZT_ABI_VERSION, made.supported, made.kernel, made.workspace_bytes, ""};
    std::snprintf(plan->text, sizeof plan->text, "%s", made.text);
    return succeed();
}

MztStatus mzt_attention_backward(const MztAttentionBackwardArgs* args, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args, Purpose::launch)) return status;
    BackwardPlan plan;
    if (const MztStatus status = make_plan(*args, device, plan)) return status;
    if (!plan.supported) return fail(MZT_UNSUPPORTED, "%s", plan.text);
    if (is_empty(*args)) return succeed();
    if (const MztStatus status = check_workspace(as_forward(*args), plan.workspace_bytes)) return status;
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_backward(*args, plan, stream)) return cuda_status(error, plan.text);
    return succeed();
}
