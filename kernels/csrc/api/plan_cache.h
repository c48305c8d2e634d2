// Cache of plans: choosing among all instances takes longer than everything else that a call does on the host.
#pragma once

#include "../api.h"
#include "cuda_runtime.h"

namespace mezzotint {

// What a plan depends on: arguments and device. Of addresses only whether they are null, and their low bits.
struct PlanKey {
    MztAttentionArgs args;
    int64_t table_queries;  // of a row of its table; 0: it has none
    cuda::Attributes attributes;
};

PlanKey plan_key(const MztAttentionArgs& args, const cuda::Attributes& attributes);

// Look up a cached plan and copy it to `plan`; false if absent. Both functions are thread-safe.
bool recall(const PlanKey& key, MztAttentionPlan& plan);
void remember(const PlanKey& key, const MztAttentionPlan& plan);

}  // namespace mezzotint
