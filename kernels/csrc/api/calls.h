// What every entry of attention does: validate the arguments, query the device, plan, launch.
#pragma once

#include <cstdio>

#include "attention_arguments.h"
#include "backward_arguments.h"
#include "devices.h"
#include "last_error.h"
#include "linear_attention_arguments.h"

namespace mezzotint {

// Plan valid arguments, by `choose(attributes, facts)` where there is something to compute; if no kernel fits,
// `supported` stays 0 and the text gives the reason.
template <typename Args, typename Plan, typename Choose>
MztStatus make_plan(const Args& args, int32_t device, Plan& plan, Choose choose) {
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
        choose(attributes, facts);
    }
    return succeed();
}

// Validate arguments of a plan, and the plan itself.
template <typename Args>
MztStatus check_planning(const Args* args, const MztAttentionPlan* plan) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = check_version(plan, sizeof *plan, "plan")) return status;
    return find_mistake(*args, Purpose::plan);
}

// Plan by `make(args, device, plan)` and queue by `launch(args, plan, stream)`.
template <typename Plan, typename Args, typename Make, typename Launch>
MztStatus plan_and_launch(const Args* args, int32_t device, void* stream, Make make, Launch launch) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args, Purpose::launch)) return status;
    Plan plan;
    if (const MztStatus status = make(*args, device, plan)) return status;
    if (!plan.supported) return fail(MZT_UNSUPPORTED, "%s", plan.text);
    if (is_empty(*args)) return succeed();
    if (const MztStatus status = check_workspace(as_forward(*args), plan.workspace_bytes)) return status;
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch(*args, plan, stream)) return cuda_status(error, plan.text);
    return succeed();
}

}  // namespace mezzotint
