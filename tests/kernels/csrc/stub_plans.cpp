// What the library plans, for tests that compare it with what was launched.
#include <cstdio>

#include "attention/backward/choose.h"
#include "attention/backward/passes.h"
#include "attention/choose.h"
#include "attention/int8/passes.h"
#include "attention/int8/workspace.h"
#include "gemm/choose.h"
#include "quantize/rows.h"
#include "stub_kernels.h"

using namespace mezzotint;

extern "C" {

struct StubPlan {
    int32_t kind, head_dim, slice_dim, dtype, masked, tile_m, tile_n, threads, shared_bytes;
    char kernel[400];
};

struct StubBackwardPlan {
    int32_t splits, part_dim, tile_m, threads, shared_bytes;
    char prepare[400], kernel[400], finish[400];
};

static void name_entry(char (&name)[400], const void* entry) {
    const stub::Kernel* kernel = stub::find_kernel(entry);
    std::snprintf(name, sizeof name, "%s", kernel ? kernel->name.c_str() : "");
}

static void name_kernel(StubPlan& plan, const void* entry) { name_entry(plan.kernel, entry); }

// The backward pass's plan on a device of that architecture; 0 when there is none.
MZT_API int32_t mzt_stub_backward(const MztAttentionBackwardArgs* args, int32_t architecture, int32_t multiprocessors,
                                  int32_t shared_bytes, StubBackwardPlan* plan) {
    const BackwardPlan chosen = plan_backward(*args, {architecture, multiprocessors, shared_bytes});
    const backward_pass::Instance* found = chosen.supported ? backward_pass::instance_of(chosen.kernel) : nullptr;
    if (!found) return 0;
    *plan = {chosen.splits, found->part_dim, found->tile_m, found->threads, found->shared_bytes, "", "", ""};
    const backward_pass::Passes passes = backward_pass::passes_of(found->dtype);
    name_entry(plan->prepare, passes.prepare);
    name_entry(plan->kernel, found->entry);
    name_entry(plan->finish, passes.finish);
    return 1;
}

// 0 when there is no instance of that number.
MZT_API int32_t mzt_stub_attention(uint32_t number, int32_t turing, StubPlan* plan) {
    const Instance* found = instance_of(number);
    if (!found) return 0;
    *plan = {static_cast<int32_t>(found->kind), found->head_dim, found->slice_dim, found->dtype, found->masked,
             found->tile_m, found->tile_n, found->threads, found->shared_bytes, ""};
    name_kernel(*plan, turing ? found->turing_entry : found->entry);
    return 1;
}

// The product's plan on a device of that architecture; 0 when there is none. `kind` is the number of bits.
MZT_API int32_t mzt_stub_linear(const MztLinearArgs* args, int32_t architecture, int32_t multiprocessors,
                                int32_t shared_bytes, StubPlan* plan) {
    LinearPlan chosen;
    plan_linear(*args, DeviceFacts{architecture, multiprocessors, shared_bytes}, chosen);
    const gemm::Instance* found = chosen.supported ? gemm::instance_of(chosen.kernel) : nullptr;
    if (!found) return 0;
    *plan = {found->weight_bits, 0, chosen.splits, found->dtype, 0, found->tile_m, found->tile_n, found->threads,
             chosen.shared_bytes, ""};
    name_kernel(*plan, architecture >= 80 ? found->entry : found->turing_entry);
    return 1;
}

}
