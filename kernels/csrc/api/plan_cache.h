// Plans that were made before: choosing among all instances takes longer than all else that a call costs the host.
#pragma once

#include "../api.h"
#include "cuda_runtime.h"

namespace mezzotint {

// What a plan depends on: the arguments and the device. Of addresses: whether they are null, and their low bits.
struct PlanKey {
    MztAttentionArgs args;
    cuda::Attributes attributes;
};

PlanKey plan_key(const MztAttentionArgs& args, const cuda::Attributes& attributes);

// Whether a plan is remembered, which is in `plan` then. Threads may ask and remember at once.
bool recall(const PlanKey& key, MztAttentionPlan& plan);
void remember(const PlanKey& key, const MztAttentionPlan& plan);

}  // namespace mezzotint
