// The last error of each thread: the status that a function returns and the text of mzt_last_error().
#pragma once

#include "../api.h"

namespace mezzotint {

// Size of a message: what happened, the value seen, what to do.
constexpr int kMessageSize = 512;

// Clear the thread's message and return MZT_OK.
MztStatus succeed();

// Store a message, formatted as by printf, and return the status.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
MztStatus fail(MztStatus status, const char* format, ...);

const char* last_error();

}  // namespace mezzotint
