// Which kernel a problem gets; host arithmetic only, so that it can be asked for cards that are not present.
#pragma once

#include "attention.h"
#include "instance.h"

namespace mezzotint {

// The instance of that number in the order of the lists; null when there is none.
const Instance* instance_of(uint32_t number);

// Whether the device can run the instance at all, and gains by it if it is less exact than others.
bool runs_on(const Instance& instance, const DeviceFacts& device);

// Whether products with 32-bit sums have half the rate of those with 16-bit sums.
bool halves_32_bit_sums(const DeviceFacts& device);

// How many blocks a multiprocessor works on at once.
int resident_blocks(const Instance& instance, const DeviceFacts& device);

// What a multiprocessor needs for the problem with that instance, in arbitrary units of time.
double cost_of(const Instance& instance, const MztAttentionArgs& args, const DeviceFacts& device);

// What a sweep on a card found: the fastest instance for a class of problems, those with so many queries (of all heads
// and batches, for each multiprocessor) and so many keys, up to twice as many.
struct Swept {
    int architecture;
    Kind kind;
    int head_dim;
    bool masked;
    int64_t queries, keys;  // the least
    int tile_m, tile_n, threads;
};

// Ended by one of architecture 0 (swept.cpp).
extern const Swept kSwept[];

// Those of all heads and batches.
int64_t query_tiles_of_all(const Instance& instance, const MztAttentionArgs& args);
int64_t tiles_per_block(const Instance& instance, const MztAttentionArgs& args);
// Blocks that each work through so many tiles of queries.
int64_t blocks_of(const Instance& instance, const MztAttentionArgs& args, int64_t tiles_per_block);

ForwardParams forward_params(const Instance& instance, const MztAttentionArgs& args, int splits = 1);

// A table as the kernels are told it; null: none.
BlockTable table_params(const MztBlockTable* table);

}  // namespace mezzotint
