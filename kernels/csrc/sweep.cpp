// Run an instance by its number, so that all of them can be measured next to the one that would be chosen. Only
// compiled with MZT_SWEEP, and not part of the C ABI.
#include <cstdio>

#include "api.h"
#include "api/attention_arguments.h"
#include "api/devices.h"
#include "api/last_error.h"
#include "api/linear_arguments.h"
#include "attention/choose.h"
#include "attention/hopper/maps.h"
#include "attention/int8/workspace.h"
#include "gemm/choose.h"

using namespace mezzotint;

namespace {

// Find the device's facts; MZT_UNSUPPORTED if this library has no code for it.
MztStatus find_facts(int32_t device, DeviceFacts& facts) {
    cuda::Attributes attributes;
    if (const MztStatus status = find_device(device, attributes)) return status;
    facts = facts_of(attributes);
    return facts.architecture ? MZT_OK : fail(MZT_UNSUPPORTED, "this library has no code for device %d", device);
}

// Whether an instance supports such arguments.
bool serves(const Instance& instance, const MztAttentionArgs& args) {
    const bool masked = args.key_mask || args.bias;
    if (!takes_heads(instance, args.head_dim) || static_cast<uint32_t>(instance.dtype) != args.dtype) return false;
    if (instance.masked != masked || !is_asked(instance.kind, args)) return false;
    if (instance.kind == Kind::hopper && !suits_boxes(args)) return false;
    return instance.kind != Kind::short_keys || args.nk <= instance.tile_n;
}

bool serves(const gemm::Instance& instance, const MztLinearArgs& args) {
    return static_cast<uint32_t>(instance.weight_bits) == args.weight_bits &&
           static_cast<uint32_t>(instance.x_bits) == args.x_bits &&
           instance.is_grouped == (args.x_group_scales || args.weight_group_scales) &&
           instance.has_codebook == (args.codebook != nullptr) && instance.floats == (args.floats != 0) &&
           instance.is_gated == is_gated(args) && !instance.join_entry &&
           instance.is_convolution == is_convolution(args) &&
           static_cast<uint32_t>(instance.dtype) == args.dtype;
}

MztStatus refuse(uint32_t number, const char* what) {
    return fail(MZT_UNSUPPORTED, "instance %u of %s is not for these arguments on this device", number, what);
}

}  // namespace

extern "C" {

struct SweepInstance {
    int32_t kind, head_dim, dtype, masked, weight_bits, x_bits, tile_m, tile_n, threads, shared_bytes;
    int32_t is_grouped, has_codebook, floats, is_gated, is_split, is_convolution;
};

// Return 0 if there is no instance of that number.
MZT_API int32_t mzt_sweep_attention_instance(uint32_t number, SweepInstance* found) {
    const Instance* instance = instance_of(number);
    if (!instance) return 0;
    *found = {static_cast<int32_t>(instance->kind), instance->head_dim, instance->dtype, instance->masked, 0, 0,
              instance->tile_m, instance->tile_n, instance->threads, instance->shared_bytes, 0};
    return 1;
}

MZT_API int32_t mzt_sweep_linear_instance(uint32_t number, SweepInstance* found) {
    const gemm::Instance* instance = gemm::instance_of(number);
    if (!instance) return 0;
    *found = {0, 0, instance->dtype, 0, instance->weight_bits, instance->x_bits, instance->tile_m, instance->tile_n,
              instance->threads, instance->shared_bytes, instance->is_grouped, instance->has_codebook,
              instance->floats, instance->is_gated, instance->join_entry != nullptr, instance->is_convolution};
    return 1;
}

// Like mzt_attention_forward, with the given instance; the workspace is that of mzt_attention_plan.
MZT_API MztStatus mzt_sweep_attention(const MztAttentionArgs* args, uint32_t number, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args, Purpose::launch)) return status;
    DeviceFacts facts;
    if (const MztStatus status = find_facts(device, facts)) return status;
    if (const MztStatus status = find_unsupported(*args)) return status;
    const Instance* instance = instance_of(number);
    if (!instance || !serves(*instance, *args) || !runs_on(*instance, facts)) return refuse(number, "attention");
    if (is_empty(*args)) return succeed();
    MztAttentionPlan plan{sizeof plan, MZT_ABI_VERSION, 1, number, 0, "a named instance of attention"};
    if (has_copies(instance->kind)) plan.workspace_bytes = int8_workspace_bytes(*args);
    if (const MztStatus status = check_workspace(*args, plan.workspace_bytes)) return status;
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_attention(*args, plan, stream)) return cuda_status(error, plan.text);
    return succeed();
}

// Like mzt_linear, with the given instance.
MZT_API MztStatus mzt_sweep_linear(const MztLinearArgs* args, uint32_t number, int32_t device, void* stream) {
    if (const MztStatus status = check_version(args, sizeof *args, "args")) return status;
    if (const MztStatus status = find_mistake(*args)) return status;
    DeviceFacts facts;
    if (const MztStatus status = find_facts(device, facts)) return status;
    if (const MztStatus status = find_unsupported(*args)) return status;
    const gemm::Instance* instance = gemm::instance_of(number);
    if (!instance || !serves(*instance, *args) || !gemm::runs_on(*instance, facts)) return refuse(number, "products");
    if (is_empty(*args)) return succeed();
    const int shared = gemm::shared_bytes_on(*instance, facts.architecture);
    const LinearPlan plan{true, number, shared, "a named instance of products"};
    if (const MztStatus status = require_current(device)) return status;
    if (const int error = launch_linear(*args, plan, stream)) return cuda_status(error, plan.text);
    return succeed();
}

}
