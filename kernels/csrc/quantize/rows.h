// The compiled kernels: one for each number format, preparation, and kind of the result.
#pragma once

#include "../api.h"

namespace mezzotint::quantize {

#ifdef MEZZOTINT_EMULATOR
using Entry = void (*)(const void* params, void* shared);
#else
using Entry = const void*;
#endif

Entry entry_of(const MztQuantizeArgs& args);

}  // namespace mezzotint::quantize
