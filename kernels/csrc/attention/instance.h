// A kernel that was compiled: what it can do, what it needs, and how it is entered.
#pragma once

#include "../api.h"
#include "params.h"

namespace mezzotint {

constexpr int kTuringSharedBytes = 64 * 1024;

#ifdef MEZZOTINT_EMULATOR
using Entry = void (*)(const void* params, void* shared);
#else
using Entry = const void*;
#endif

enum class Kind {
    forward,     // any number of keys
    short_keys,  // at most tile_n keys, held at once
    int8,        // scores from 8-bit products; its params are Int8Params, those of the others ForwardParams
    dropout      // like forward, with dropout of the weights
};

struct Instance {
    Kind kind;
    int head_dim, slice_dim;
    MztDtype dtype;
    bool masked;
    int tile_m, tile_n, rows_per_warp, threads, shared_bytes;
    Entry entry;
    Entry turing_entry;  // the same kernel; another function only where both are emulated
};

// The instances of one file.
struct InstanceList {
    const Instance* first;
    int count;
};

// Those of all files, numbered from 0 (instances/all.cpp).
int instance_lists();
InstanceList instance_list(int number);

}  // namespace mezzotint
