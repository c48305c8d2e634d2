// What went wrong last, for each thread: the status that a function returns and the text behind mzt_last_error().
#pragma once

#include "../api.h"

namespace mezzotint {

// Room for one message: what happened, the value seen, what to do.
constexpr int kMessageSize = 512;

// Forget the thread's message; MZT_OK.
MztStatus succeed();

// Keep a message, written as by printf, and give the status back.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
MztStatus fail(MztStatus status, const char* format, ...);

const char* last_error();

}  // namespace mezzotint
