// What Hopper's kernels are told, from a caller's arguments; and which arguments their copies can follow.
#pragma once

#include "../instance.h"
#include "params.h"

namespace mezzotint {

struct HopperTiles {
    Tiles q, k, v;
};

// Whether boxes can be copied from tensors with such strides, and all keys are seen but for causal ones: rows behind a
// batch's last key would be copied, too, and multiplied by weights of 0, which is not 0 for what is no number.
bool suits_boxes(const MztAttentionArgs& args);

HopperTiles tiles_of(const Instance& instance, const MztAttentionArgs& args);

// All but the maps.
HopperParams hopper_params(const Instance& instance, const MztAttentionArgs& args);

// Queue the kernel; returns a cudaError_t.
int launch_hopper(const Instance& instance, const MztAttentionArgs& args, void* stream);

}  // namespace mezzotint
