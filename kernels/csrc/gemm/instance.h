// A kernel that was compiled: what it can do, what it needs, and how it is entered.
#pragma once

#include "../api.h"
#include "params.h"

namespace mezzotint::gemm {

#ifdef MEZZOTINT_EMULATOR
using Entry = void (*)(const void* params, void* shared);
#else
using Entry = const void*;
#endif

struct Instance {
    int weight_bits, x_bits;
    MztDtype dtype;
    int tile_m, tile_n;
    int rows_per_warp, columns_per_warp;
    int threads;
    int shared_bytes;
    int turing_shared_bytes;  // of the same kernel compiled for Turing
    Entry entry;
    Entry turing_entry;  // others only where all are emulated
    Entry hopper_entry;
    bool is_grouped;  // both sides have scales by group
    bool has_codebook;
    int products_per_cycle;  // on a multiprocessor; 0: as the numbers of bits tell
    bool floats;  // of 8 bits, not integers
    Entry join_entry, turing_join_entry;  // of the second kernel where columns of x are split; null: they are not
    bool is_gated;  // pairs of columns become one
    bool is_convolution;  // of 3 x 3 pixels
};

// The instances of one file.
struct InstanceList {
    const Instance* first;
    int count;
};

// Those of all files, numbered from 0 (instances/all.cpp).
int instance_lists();
InstanceList instance_list(int number);

}  // namespace mezzotint::gemm
