// The C ABI of attention's backward pass: validates the arguments, queries the device, and calls the kernels.
#include "../attention/backward/backward.h"

#include <cstdio>

#include "calls.h"

namespace {

using namespace mezzotint;

MztStatus plan_backward_on(const MztAttentionBackwardArgs& args, int32_t device, BackwardPlan& plan) {
    plan = BackwardPlan{false, 0, 1, 0, ""};
    return make_plan(args, device, plan, [&](const cuda::Attributes&, const DeviceFacts& facts) {
        plan = plan_backward(args, facts);
    });
}

}  // namespace

MztStatus mzt_attention_backward_plan(const MztAttentionBackwardArgs* args, int32_t device, MztAttentionPlan* plan) {
    if (const MztStatus status = check_planning(args, plan)) return status;
    BackwardPlan made;
    if (const MztStatus status = plan_backward_on(*args, device, made)) return status;
    *plan = MztAttentionPlan{sizeof *plan, MZT_ABI_VERSION, made.supported, made.kernel, made.workspace_bytes, ""};
    std::snprintf(plan->text, sizeof plan->text, "%s", made.text);
    return succeed();
}

MztStatus mzt_attention_backward(const MztAttentionBackwardArgs* args, int32_t device, void* stream) {
    return plan_and_launch<BackwardPlan>(args, device, stream, plan_backward_on, launch_backward);
}
