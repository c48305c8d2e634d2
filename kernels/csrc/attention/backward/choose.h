// Which backward kernel a problem gets, in how many splits, and where the workspace's parts lie; host arithmetic only.
#pragma once

#include "backward.h"
#include "instance.h"

namespace mezzotint {
namespace backward_pass {

// The instance of that number in the order of the lists; null when there is none.
const Instance* instance_of(uint32_t number);

// Whether the device can run the instance at all.
bool runs_on(const Instance& instance, const DeviceFacts& device);

// Whether the instance supports the problem on any device.
bool serves(const Instance& instance, const MztAttentionBackwardArgs& args);

// The splits that finish first, and of these the fewest; each needs memory for sums of dq.
int32_t best_splits(const Instance& instance, const MztAttentionBackwardArgs& args, const DeviceFacts& device);

// What a multiprocessor needs with so many splits, in arbitrary units of time.
double cost_of(const Instance& instance, const MztAttentionBackwardArgs& args, const DeviceFacts& device,
               int32_t splits);

int64_t workspace_bytes(const MztAttentionBackwardArgs& args, int32_t splits);

// Parameters over args.workspace.
BackwardParams params_of(const Instance& instance, const MztAttentionBackwardArgs& args, int32_t splits);

// Blocks of the three passes.
int64_t prepare_blocks(const MztAttentionBackwardArgs& args);
int64_t main_blocks(const Instance& instance, const MztAttentionBackwardArgs& args, int32_t splits);
int64_t finish_blocks(const MztAttentionBackwardArgs& args);

}  // namespace backward_pass
}  // namespace mezzotint
