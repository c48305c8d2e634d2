// Drivers and devices: what is installed, whether it is usable, and why not.
#pragma once

#include "../api.h"
#include "../attention/attention.h"
#include "cuda_runtime.h"

namespace mezzotint {

// Return the architecture of the machine code or PTX in `architectures` ("sm_75 ... compute_120") that a driver loads
// on a GPU of this compute capability: 75, 80, ...; 0 if there is none.
int loadable_architecture(int major, int minor, const char* architectures);

// Find the driver: its version (0: none) and the number of devices.
MztStatus find_driver(int& version, int& devices);

// Find a device; cached, since every call needs it.
MztStatus find_device(int ordinal, cuda::Attributes& attributes);

// MZT_OK if this is the calling thread's current device.
MztStatus require_current(int ordinal);

// Facts that the choice of kernels depends on; `architecture` is 0 if this library has no code for the device.
DeviceFacts facts_of(const cuda::Attributes& attributes);

// Convert CUDA's result of `what` to a status and message.
MztStatus cuda_status(int error, const char* what);

}  // namespace mezzotint
