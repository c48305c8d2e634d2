// The C ABI: each exported function validates its arguments, queries the device, and dispatches.
#include "api.h"

#include <cstdio>
#include <cstring>

#include "api/attention_arguments.h"
#include "api/devices.h"
#include "api/last_error.h"
#include "api/plan_cache.h"
#include "attention/attention.h"

namespace {

using namespace mezzotint;

// Plan for valid arguments; if no kernel fits, `supported` is 0 and the text gives the reason.
MztStatus make_plan(const MztAttentionArgs& args, int32_t device, MztAttentionPlan& plan) {
    plan = MztAttentionPlan{sizeof plan, MZT_ABI_VERSION, 0, 0, 0, ""};
    cuda::Attributes attributes;
    if (const MztStatus status = find_device(device, attributes)) return status;
    if (find_unsupported(args)) {
        std::snprintf(plan.text, sizeof plan.text, "%s", last_error());
        return succeed();
    }
    const PlanKey key = plan_key(args, attributes);
    if (recall(key, plan)) return succeed();
    const DeviceFacts facts = facts_of(attributes);
    if (facts.architecture == 0) {
        std::snprintf(plan.text, sizeof plan.text,
                      "device %d has compute capability %d.%d: this library has only %s", device, attributes.major,
                      attributes.minor, mzt_architectures());
    } else if (is_empty(args)) {
        plan.supported = 1;
        std::snprintf(plan.text, sizeof plan.text, "nothing to compute");
    } else {
        plan_attention(args, facts, plan);
    }
    remember(key, plan);
    return succeed();
}

}  // namespace

uint32_t mzt_abi_version(void) { return MZT_ABI_VERSION; }

const char* mzt_version(void) { return MZT_VERSION; }

const char* mzt_architectures(void) { return MZT_ARCHITECTURES; }

const char* mzt_last_error(void) { return last_error(); }

MztStatus mzt_driver(int32_t* version, int32_t* devices) {
    if (!version || !devices) {
        return fail(MZT_INVALID_ARGUMENT, "%s is null: give a pointer to an int32", version ? "devices" : "version");
    }
    return find_driver(*version, *devices);
}

MztStatus mzt_device(int32_t ordinal, MztDevice* device) {
    if (const MztStatus status = check_version(device, sizeof *device, "device")) return status;
    cuda::Attributes attributes;
    if (const MztStatus status = find_device(ordinal, attributes)) return status;
    *device = MztDevice{sizeof *device,
                        MZT_ABI_VERSION,
                        attributes.major,
                        attributes.minor,
                        attributes.multiprocessors,
                        attributes.shared_bytes,
                        ""};
    if (const int error = cuda::device_name(ordinal, device->name, sizeof device->name)) {
        return cuda_status(error, "the device's name");
    }
    return succeed();
}

MztStatus mzt_attention_plan(const MztAttentionArgs* args, int32_t device, MztAttentionPlan* plan) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = check_version(plan, sizeof *plan, "plan")) return status;
    if (const MztStatus status = find_mistake(*args, Purpose::plan)) return status;
    return make_plan(*args, device, *plan);
}

MztStatus mzt_attention_forward(const MztAttentionArgs* args, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args, Purpose::launch)) return status;
    MztAttentionPlan plan;
    if (const MztStatus status = make_plan(*args, device, plan)) return status;
    if (!plan.supported) return fail(MZT_UNSUPPORTED, "%s", plan.text);
    if (is_empty(*args)) return succeed();
    if (const MztStatus status = check_workspace(*args, plan.workspace_bytes)) return status;
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_attention(*args, plan, stream)) return cuda_status(error, plan.text);
    return succeed();
}
