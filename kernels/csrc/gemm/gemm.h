// What the C ABI asks of the integer product's kernels; arguments are checked before they come here.
#pragma once

#include "../api.h"
#include "../attention/attention.h"

namespace mezzotint {

// Whether `mma.sync` has products of e4m3 floats on that architecture, as its own instructions.
inline bool multiplies_fp8(int architecture) { return architecture == 89 || architecture >= 120; }

// Whether 8-bit products by `mma.sync` pay on that architecture. On data-center Blackwell (10.x) 16-bit ones by `tcgen05`
// are at least twice as fast, so that kernels are compiled to nothing (primitives.h).
inline bool multiplies_integers(int architecture) { return architecture < 100 || architecture >= 120; }

// Whether two parts' outputs become one, with one as the other's gate.
inline bool is_gated(const MztLinearArgs& args) { return args.activation >= MZT_GATED_GELU; }

// Whether it is a convolution of 3 x 3 pixels.
inline bool is_convolution(const MztLinearArgs& args) { return args.image_height != 0; }

// Pixels of a convolution's output along an edge, of which x has that many.
inline int64_t pixels_along(const MztLinearArgs& args, int64_t pixels) {
    return (pixels - 1) / args.image_stride + 1;
}

struct LinearPlan {
    bool supported;
    uint32_t kernel;   // names the instance, stable within a build
    int shared_bytes;  // that a block needs on this device
    char text[240];    // the instance's name, or why there is none
    int splits = 1;    // of the columns of x
};

// Fill `plan` for arguments on a device; host arithmetic only.
void plan_linear(const MztLinearArgs& args, const DeviceFacts& device, LinearPlan& plan);

// Queue the planned kernel; returns a cudaError_t (0: queued).
int launch_linear(const MztLinearArgs& args, const LinearPlan& plan, void* stream);

}  // namespace mezzotint
