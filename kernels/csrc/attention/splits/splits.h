// Whether the keys of a problem are split among blocks, and where the parts' sums lie; host arithmetic only.
#pragma once

#include "../attention.h"
#include "../instance.h"

namespace mezzotint {

struct SplitChoice {
    int count;    // 1: they are not
    double gain;  // how many times less time than what would be just worth a second kernel; 1 where there is none
};

// The count that an instance gains most by on the device, if that is worth a second kernel.
SplitChoice choose_splits(const Instance& instance, const MztAttentionArgs& args, const DeviceFacts& device);

// What so many parts need of the workspace; 0 of one.
int64_t split_bytes(const MztAttentionArgs& args, int count);

// The parts of a plan of that instance, which are as many as its workspace has room for.
int planned_splits(const Instance& instance, const MztAttentionArgs& args, int64_t workspace_bytes);

Splits split_params(const Instance& instance, const MztAttentionArgs& args, int count);

// The kernel that joins parts.
struct JoinLaunch {
    Entry entry;
    int64_t blocks;
    int threads;
};

JoinLaunch join_launch(const ForwardParams& params, MztDtype dtype);

}  // namespace mezzotint
