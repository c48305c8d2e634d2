#include "last_error.h"

#include <cstdarg>
#include <cstdio>

namespace mezzotint {

namespace {

thread_local char message[kMessageSize] = "";

}  // namespace

MztStatus succeed() {
    message[0] = '\0';
    return MZT_OK;
}

MztStatus fail(MztStatus status, const char* format, ...) {
    va_list values;
    va_start(values, format);
    std::vsnprintf(message, sizeof message, format, values);
    va_end(values);
    return status;
}

const char* last_error() { return message; }

}  // namespace mezzotint
