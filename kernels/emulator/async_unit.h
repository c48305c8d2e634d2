// What works beside the threads of a block on Hopper: copies of boxes that arrive late, barriers in shared memory that
// count them, products of four warps that are waited for, and registers that warps give to each other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../csrc/tensor_map.h"
#include "wide_products.h"

namespace mezzotint {
namespace emulator {

class Block;

// A box of a tensor on its way.
struct BoxCopy {
    const Tiles* tiles;
    uint32_t to, barrier;
    int column, row, head, batch;
};

class AsyncUnit {
public:
    AsyncUnit(Block& block, int threads, bool late_copies, bool late_reads);
    void start();  // of a block
    // Let one of the copies arrive, chosen by `lot`, the largest of which is the last; returns how many did.
    int land_one(uint32_t lot);
    // What was not brought to an end when the block's threads were; empty if nothing.
    std::string left_open() const;

    // ---- barriers in shared memory
    void prepare(uint32_t barrier, uint32_t arrivals);
    void publish();
    void arrive(uint32_t barrier, int64_t announced);
    bool has_ended(uint32_t barrier, uint32_t parity);
    // ---- barriers by number
    void wait_turn(int number, int threads);
    void give_turn(int number, int threads);
    // ---- copies, registers of a warp
    void copy(const BoxCopy& copy);
    void keep_registers(int warp, int registers);
    bool take_registers(int warp, int registers);

    WideProducts products;

private:
    struct Barrier {
        int64_t arrivals = 0, missing = 0, bytes = 0;
        uint32_t phase = 0;
        bool is_published = false;
    };
    struct Turn {
        int threads = 0, arrived = 0;
        int64_t round = 0;
    };

    Barrier& barrier(uint32_t address);
    void end_phase(Barrier& barrier);
    void land(const BoxCopy& copy);
    Turn& arrive_at_turn(int number, int threads);

    Block& block_;
    int threads_;
    bool late_copies_;
    std::map<uint32_t, Barrier> barriers_;
    std::map<int, Turn> turns_;
    std::vector<BoxCopy> copies_;
    std::vector<int> registers_;  // of each warp's threads
};

}  // namespace emulator
}  // namespace mezzotint
