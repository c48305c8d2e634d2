// Products of four warps as a processor plays them, a warp's 16 rows at a time: begun, committed in groups, waited for.
//
// Until they are waited for, the sums' registers hold what is no number. Operands are read when a product begins, or when
// it is waited for: a kernel must be right with both, since the hardware reads them at any time between.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mezzotint {
namespace emulator {

class Block;

constexpr int kLanes = 32;

// Where the chunk of 16 bytes at an address lies, in rows of 128 or 64 bytes.
inline uint32_t exchanged(uint32_t address, uint32_t row_bytes) {
    return address ^ ((address >> 7 & (row_bytes / 16 - 1)) << 4);
}

using Decode = float (*)(uint16_t bits);

struct WideProduct {
    int n;
    Decode decode;
    float* d[kLanes];           // n / 2 numbers of each lane
    const uint32_t* a[kLanes];  // four registers of each lane; null: `left` says where a is
    uint64_t left, right;
    bool add;
    std::vector<float> rows, columns;  // a, 16 rows, and b, n columns, both 16 deep, once they are read
};

class WideProducts {
public:
    WideProducts(Block& block, int warps, bool late_reads) : block_(block), warps_(warps), late_reads_(late_reads) {}

    void start();
    std::string left_open() const;

    // ---- by a warp, all its lanes at once
    void fence(int warp) { states_[warp].fenced = true; }
    void begin(int warp, const WideProduct& product);
    void commit(int warp);
    void wait(int warp, int pending);

private:
    struct Sums {
        std::vector<float> numbers;
        int products = 0;  // under way
    };
    struct State {
        bool fenced = false;
        int64_t begun = 0;
        std::vector<WideProduct> open;
        std::vector<std::vector<WideProduct>> groups;
        std::map<float*, Sums> sums;  // by the first lane's registers
    };

    void read(int warp, WideProduct& product);
    void perform(int warp, WideProduct& product);
    float shared_number(uint32_t address, uint32_t row_bytes, Decode decode);

    Block& block_;
    int warps_;
    bool late_reads_;
    std::vector<State> states_;
};

}  // namespace emulator
}  // namespace mezzotint
