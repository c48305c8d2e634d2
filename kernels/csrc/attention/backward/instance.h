// A backward kernel that was compiled: what it can do, what it needs, and how it is entered.
#pragma once

#include "../instance.h"
#include "params.h"

namespace mezzotint {
namespace backward_pass {

struct Instance {
    int head_dim, part_dim;
    MztDtype dtype;
    bool dropout;
    int tile_m, tile_n, stages, threads, shared_bytes;  // keys of a block; queries of a tile
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

}  // namespace backward_pass
}  // namespace mezzotint
