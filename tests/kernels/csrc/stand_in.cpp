// CUDA's runtime and the attention kernels as a test wants them: linked with the real API in their place.
#include <cstdio>
#include <cstring>

#include "api/cuda_runtime.h"
#include "attention/attention.h"
#include "attention/backward/backward.h"
#include "gemm/block_scaled/block_scaled.h"
#include "gemm/gemm.h"
#include "group_norm/group_norm.h"
#include "linear_attention/linear_attention.h"
#include "quantize/block_scaled/rows.h"
#include "quantize/quantize.h"

extern "C" {

struct StandIn {
    int driver_version, device_count, count_error, current_device;
    int major, minor, attributes_error, name_error;
    int supported, workspace_bytes, launch_error;
    // What was asked for.
    int attribute_calls, plans, launches, architecture, kernel;
    long long nq;
    void* stream;
};

static StandIn state;

MZT_API StandIn* mzt_stand_in(void) { return &state; }
}

namespace mezzotint {
namespace cuda {

int driver_version(int& version) {
    version = state.driver_version;
    return 0;
}

int device_count(int& count) {
    count = state.device_count;
    return state.count_error;
}

int current_device(int& ordinal) {
    ordinal = state.current_device;
    return 0;
}

int device_attributes(int, Attributes& attributes) {
    ++state.attribute_calls;
    attributes = Attributes{state.major, state.minor, 46, 101376};
    return state.attributes_error;
}

int device_name(int ordinal, char* name, int size) {
    std::snprintf(name, size, "Paper Card %d", ordinal);
    return state.name_error;
}

const char* error_text(int error) { return error == 700 ? "an illegal memory access was encountered" : "something"; }

int runtime_version() { return 12090; }

}  // namespace cuda

void plan_attention(const MztAttentionArgs& args, const DeviceFacts& device, MztAttentionPlan& plan) {
    ++state.plans;
    state.architecture = device.architecture;
    plan.supported = state.supported;
    plan.kernel = 7;
    plan.workspace_bytes = state.workspace_bytes;
    std::snprintf(plan.text, sizeof plan.text, state.supported ? "paper d%lld" : "head_dim is %lld",
                  static_cast<long long>(args.head_dim));
}

int launch_attention(const MztAttentionArgs& args, const MztAttentionPlan& plan, void* stream) {
    ++state.launches;
    state.kernel = plan.kernel;
    state.nq = args.nq;
    state.stream = stream;
    return state.launch_error;
}

BackwardPlan plan_backward(const MztAttentionBackwardArgs& args, const DeviceFacts& device) {
    ++state.plans;
    state.architecture = device.architecture;
    BackwardPlan plan{state.supported != 0, 7, 1, state.workspace_bytes, ""};
    std::snprintf(plan.text, sizeof plan.text, state.supported ? "paper backward d%lld" : "head_dim is %lld",
                  static_cast<long long>(args.head_dim));
    return plan;
}

int launch_backward(const MztAttentionBackwardArgs& args, const BackwardPlan& plan, void* stream) {
    ++state.launches;
    state.kernel = plan.kernel;
    state.nq = args.nq;
    state.stream = stream;
    return state.launch_error;
}

void plan_linear_attention(const MztLinearAttentionArgs& args, const DeviceFacts& device, MztAttentionPlan& plan) {
    ++state.plans;
    state.architecture = device.architecture;
    plan.supported = state.supported;
    plan.kernel = 7;
    plan.workspace_bytes = state.workspace_bytes;
    std::snprintf(plan.text, sizeof plan.text, state.supported ? "paper linear d%lld" : "head_dim is %lld",
                  static_cast<long long>(args.head_dim));
}

int launch_linear_attention(const MztLinearAttentionArgs& args, const MztAttentionPlan& plan, void* stream) {
    ++state.launches;
    state.kernel = plan.kernel;
    state.nq = args.nq;
    state.stream = stream;
    return state.launch_error;
}

int launch_group_norm(const MztGroupNormArgs& args, void* stream) {
    ++state.launches;
    state.nq = args.pixels;
    state.stream = stream;
    return state.launch_error;
}

int launch_quantize(const MztQuantizeArgs& args, void* stream) {
    ++state.launches;
    state.nq = args.rows;
    state.stream = stream;
    return state.launch_error;
}

int launch_block_scaled_quantize(const MztBlockScaledQuantizeArgs& args, void* stream) {
    ++state.launches;
    state.nq = args.rows.rows;
    state.stream = stream;
    return state.launch_error;
}

void plan_block_scaled_linear(const MztBlockScaledLinearArgs& args, const DeviceFacts& device, LinearPlan& plan) {
    ++state.plans;
    state.architecture = device.architecture;
    plan = LinearPlan{state.supported != 0, 7, 0, ""};
    std::snprintf(plan.text, sizeof plan.text, state.supported ? "paper format %u" : "format is %u", args.format);
}

int launch_block_scaled_linear(const MztBlockScaledLinearArgs& args, const LinearPlan& plan, void* stream) {
    ++state.launches;
    state.kernel = plan.kernel;
    state.nq = args.linear.rows;
    state.stream = stream;
    return state.launch_error;
}

void plan_linear(const MztLinearArgs& args, const DeviceFacts& device, LinearPlan& plan) {
    ++state.plans;
    state.architecture = device.architecture;
    plan = LinearPlan{state.supported != 0, 7, 0, ""};
    std::snprintf(plan.text, sizeof plan.text, state.supported ? "paper w%ua8" : "weight_bits is %u", args.weight_bits);
}

int launch_linear(const MztLinearArgs& args, const LinearPlan& plan, void* stream) {
    ++state.launches;
    state.kernel = plan.kernel;
    state.nq = args.rows;
    state.stream = stream;
    return state.launch_error;
}

}  // namespace mezzotint
