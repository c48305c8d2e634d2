// The kernels before and after the main loop, for either number format.
#pragma once

#include "../instance.h"

namespace mezzotint {
namespace backward_pass {

struct Passes {
    Entry prepare, finish;
};

Passes passes_of(MztDtype dtype);

}  // namespace backward_pass
}  // namespace mezzotint
