// The C ABI: each exported function validates its arguments, queries the device, and dispatches.
#include "api.h"

#include <cstring>

#include "api/calls.h"
#include "api/plan_cache.h"
#include "attention/attention.h"

namespace {

using namespace mezzotint;

MztStatus plan_forward(const MztAttentionArgs& args, int32_t device, MztAttentionPlan& plan) {
    plan = MztAttentionPlan{sizeof plan, MZT_ABI_VERSION, 0, 0, 0, ""};
    return make_plan(args, device, plan, [&](const cuda::Attributes& attributes, const DeviceFacts& facts) {
        const PlanKey key = plan_key(args, attributes);
        if (recall(key, plan)) return;
        plan_attention(args, facts, plan);
        remember(key, plan);
    });
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
    if (const MztStatus status = check_planning(args, plan)) return status;
    return plan_forward(*args, device, *plan);
}

MztStatus mzt_attention_forward(const MztAttentionArgs* args, int32_t device, void* stream) {
    return plan_and_launch<MztAttentionPlan>(args, device, stream, plan_forward, launch_attention);
}
