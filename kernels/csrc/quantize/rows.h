// The compiled kernels: one for each number format, preparation and number of bits.
#pragma once

#include "../api.h"

namespace mezzotint::quantize {

#ifdef MEZZOTINT_EMULATOR
using Entry = void (*)(const void* params, void* shared);
#else
using Entry = const void*;
#endif

Entry entry_of(uint32_t dtype, uint32_t preparation, uint32_t bits);

}  // namespace mezzotint::quantize
