// The C ABI of GroupNorm: validates the arguments, queries the device, and calls the kernels.
#include "../group_norm.h"

#include "../../api/attention_arguments.h"
#include "../../api/devices.h"
#include "../../api/last_error.h"
#include "../plan.h"
#include "arguments.h"

namespace {

using namespace mezzotint;

// Check that this library has code for the device.
MztStatus check_device(int32_t device) {
    cuda::Attributes attributes;
    if (const MztStatus status = find_device(device, attributes)) return status;
    if (facts_of(attributes).architecture) return MZT_OK;
    return fail(MZT_UNSUPPORTED, "device %d has compute capability %d.%d: this library has only %s", device,
                attributes.major, attributes.minor, mzt_architectures());
}

bool is_empty(const MztGroupNormArgs& args) { return args.batch == 0 || args.pixels == 0; }

}  // namespace

MztStatus mzt_group_norm_workspace(const MztGroupNormArgs* args, int64_t* bytes) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (!bytes) return fail(MZT_INVALID_ARGUMENT, "bytes is null: give a pointer to 64 bits");
    if (const MztStatus status = find_mistake(*args)) return status;
    if (const MztStatus status = find_unsupported(*args)) return status;
    *bytes = is_empty(*args) ? 0 : group_norm::workspace_bytes(*args);
    return succeed();
}

MztStatus mzt_group_norm(const MztGroupNormArgs* args, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args)) return status;
    if (const MztStatus status = check_device(device)) return status;
    if (const MztStatus status = find_unsupported(*args)) return status;
    if (is_empty(*args)) return succeed();
    if (const MztStatus status = find_launch_mistake(*args)) return status;
    if (const MztStatus status = find_unaligned(*args)) return status;
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_group_norm(*args, stream)) return cuda_status(error, "group_norm");
    return succeed();
}
