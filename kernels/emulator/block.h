// A block of threads at work on a processor: one fibre each, warps that act together, a barrier, shared memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "async_unit.h"
#include "fibre.h"

namespace mezzotint {
namespace emulator {

// What a run is to be like, and what is counted in it.
struct Conditions {
    bool late_copies = true;  // asynchronous copies arrive when they are waited for, else at once
    uint32_t seed = 0;        // of the order in which warps take their turns
    bool stubborn = false;    // one warp goes on whenever it can, the next only when it cannot, and so on
    bool late_reads = false;  // products of four warps read their operands when they are waited for, else at once
};
struct Counts {
    int64_t bank_conflicts = 0;  // waits of matrix loads, beyond the one access that each takes
    int64_t matrix_loads = 0;
    int64_t products = 0;
};

struct Copy {
    uint32_t to;
    const void* from;  // null: zeros
    int bytes;
};

struct Thread {
    Fibre fibre;
    int index = 0;
    std::vector<Copy> copies;                // since the last commit
    std::vector<std::vector<Copy>> groups;   // committed, oldest first
    bool at_barrier = false;
};

// What the lanes of a warp bring to something that they do together.
struct Meeting {
    const void* purpose = nullptr;
    int arrived = 0;
    uint64_t held = 0;  // how many meetings there were
    void* given[kLanes] = {};
};

class Block {
public:
    Block(int threads, int shared_bytes, const Conditions& conditions);

    // Run a kernel's body as the block of that index; throws std::runtime_error when it goes wrong.
    void run(int64_t index, const std::function<void()>& body);

    Counts counts;
    AsyncUnit units;

    // ---- what the body, on one of the fibres, sees of the machine
    static Block& current();
    Thread& thread() { return *running_; }
    int64_t index() const { return index_; }
    char* shared() { return shared_.data(); }
    // `bytes` of shared memory at an address that must be there and aligned to `alignment`.
    char* shared_at(uint32_t address, int bytes, int alignment);
    void barrier();
    // All lanes bring `mine`; `act` runs once, with what all brought, before any goes on. `purpose` tells meetings apart.
    void meet(const void* purpose, void* mine, void (*act)(Block&, void* const (&)[kLanes]));
    void copy(uint32_t to, const void* from, bool wanted, bool asynchronous, int bytes);
    void copy16(uint32_t to, const void* from, bool wanted, bool asynchronous) {
        copy(to, from, wanted, asynchronous, 16);
    }
    // Until it is so; asked again and again.
    void wait_until(const std::function<bool()>& holds);
    // Those who were waited for may go on at once, before this thread does.
    void let_others_on();
    void commit_copies();
    void wait_copies(int pending);
    [[noreturn]] void fail(const std::string& what) const;
    // The same of what no thread does.
    void note(const std::string& what) { failure_ = what; }

private:
    void turn(int warp);
    void perform(const std::vector<Copy>& copies);
    void release_barrier();

    Conditions conditions_;
    std::mt19937 lots_;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<Meeting> meetings_;
    std::vector<char> shared_;
    Thread* running_ = nullptr;
    int64_t index_ = 0;
    int waiting_ = 0, ended_ = 0;
    uint64_t steps_ = 0;  // how often anything went on, to see a deadlock
    mutable std::string failure_;
};

}  // namespace emulator
}  // namespace mezzotint
