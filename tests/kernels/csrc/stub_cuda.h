// What the stub of CUDA is told and what it remembers; tests/plugins/stub_cuda.py has the same structs.
#pragma once

#include <cstdint>

extern "C" {

struct StubCard {
    int32_t major, minor, multiprocessors, shared_bytes;
    char name[32];
};

// A call that fails: the one of that name after `passes` that go well, and with `sticky` every call after it.
struct StubFailure {
    char name[32];
    int32_t passes, error, sticky;
};

struct StubCall {
    char name[32];
    int32_t device, error;  // current then; what was answered
    int64_t value;          // the attribute's, the ordinal; 0 where there is nothing to tell
};

// `parameters`, `bytes` and `most_threads` are those that the compiled kernel says it has, not the caller.
struct StubLaunch {
    char kernel[400];
    uint32_t grid[3], block[3];
    int64_t shared_bytes;
    int32_t allowed_shared_bytes;  // for this kernel on this device, when it was launched
    int32_t device, error, most_threads;
    void* stream;
    int32_t parameters, bytes;
    unsigned char argument[1024];
};

constexpr int kStubCards = 4, kStubCalls = 256, kStubLaunches = 32;

struct Stub {
    int32_t driver_version, cards;
    StubCard card[kStubCards];
    StubFailure failure;
    int32_t kernels, calls, launches;  // registered; in the lists below
    StubCall call[kStubCalls];
    StubLaunch launch[kStubLaunches];
};

}
