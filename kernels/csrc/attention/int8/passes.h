// The two kernels that come before the main loop, for either number format.
#pragma once

#include "../instance.h"

namespace mezzotint {

constexpr int kPassThreads = 128;

struct Int8Passes {
    Entry summarize, quantize, quantize_all;
};

Int8Passes int8_passes(MztDtype dtype);

}  // namespace mezzotint
