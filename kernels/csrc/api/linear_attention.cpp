// The C ABI of linear attention: validates the arguments, queries the device, and calls the kernels.
#include "../linear_attention/linear_attention.h"

#include "calls.h"

namespace {

using namespace mezzotint;

MztStatus plan_on_device(const MztLinearAttentionArgs& args, int32_t device, MztAttentionPlan& plan) {
    plan = MztAttentionPlan{sizeof plan, MZT_ABI_VERSION, 0, 0, 0, ""};
    return make_plan(args, device, plan, [&](const cuda::Attributes&, const DeviceFacts& facts) {
        plan_linear_attention(args, facts, plan);
    });
}

}  // namespace

MztStatus mzt_linear_attention_plan(const MztLinearAttentionArgs* args, int32_t device, MztAttentionPlan* plan) {
    if (const MztStatus status = check_planning(args, plan)) return status;
    return plan_on_device(*args, device, *plan);
}

MztStatus mzt_linear_attention(const MztLinearAttentionArgs* args, int32_t device, void* stream) {
    return plan_and_launch<MztAttentionPlan>(args, device, stream, plan_on_device, launch_linear_attention);
}
