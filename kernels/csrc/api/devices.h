// Drivers and devices: what is there, whether it will do, and in words why not.
#pragma once

#include "../api.h"
#include "../attention/attention.h"
#include "cuda_runtime.h"

namespace mezzotint {

// The machine code or PTX of `architectures` ("sm_75 ... compute_120") that a driver loads on a card of this compute
// capability: 75, 80, ...; 0 when there is none.
int loadable_architecture(int major, int minor, const char* architectures);

// Find the driver: its version (0: none) and how many devices it has.
MztStatus find_driver(int& version, int& devices);

// Find a device; kept once it was found, for this is asked at every call.
MztStatus find_device(int ordinal, cuda::Attributes& attributes);

// MZT_OK when the calling thread's current device is this one.
MztStatus require_current(int ordinal);

// What choices of kernels depend on; `architecture` is 0 where this library has no code for the device.
DeviceFacts facts_of(const cuda::Attributes& attributes);

// The status and message for what CUDA answered to `what`.
MztStatus cuda_status(int error, const char* what);

}  // namespace mezzotint
