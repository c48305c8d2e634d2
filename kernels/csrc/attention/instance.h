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
    dropout,     // like forward, with dropout of the weights
    int8_all,    // both products of 8 bits; like int8 in its params
    half_sums,   // 16 bits, and sums of weights and values in float16; like int8 in its params
    int8_fp8,    // like int8_all, with weights and values that are floats of 8 bits, summed in float16
    hopper       // like forward, of Hopper's own copies and products; its params are HopperParams
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

// Whether two passes make copies first.
inline bool has_copies(Kind kind) {
    return kind == Kind::int8 || kind == Kind::int8_all || kind == Kind::half_sums || kind == Kind::int8_fp8;
}

// What arguments ask for, of the kinds that are only run on request.
inline Kind asked_kind(const MztAttentionArgs& args) {
    if (args.flags & MZT_FP8_VALUES) return Kind::int8_fp8;
    if (args.flags & MZT_INT8_VALUES) return Kind::int8_all;
    if (args.flags & MZT_INT8_SCORES) return Kind::int8;
    if (args.flags & MZT_HALF_SUMS) return Kind::half_sums;
    return args.dropout.kept != 0 ? Kind::dropout : Kind::forward;
}

// Whether a kind of kernels does what arguments ask for; few keys and Hopper's are a matter of speed alone.
inline bool is_asked(Kind kind, const MztAttentionArgs& args) {
    if ((kind == Kind::dropout) != (args.dropout.kept != 0)) return false;
    if (kind == Kind::hopper && (args.flags & MZT_WITHOUT_HOPPER)) return false;
    const bool is_plain = kind == Kind::short_keys || kind == Kind::hopper;
    return (is_plain ? Kind::forward : kind) == asked_kind(args);
}

// Whether an instance works on heads of that size; Hopper's fill them with zeros, up to twice as many columns.
inline bool takes_heads(const Instance& instance, int64_t head_dim) {
    if (instance.kind != Kind::hopper) return instance.head_dim == head_dim;
    return head_dim <= instance.head_dim && 2 * head_dim >= instance.head_dim;
}

// The instances of one file.
struct InstanceList {
    const Instance* first;
    int count;
};

// Those of all files, numbered from 0 (instances/all.cpp).
int instance_lists();
InstanceList instance_list(int number);

}  // namespace mezzotint
