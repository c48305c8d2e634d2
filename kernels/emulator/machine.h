// csrc/primitives.h as a processor plays it: what is one instruction there is one meeting of a warp's lanes here.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>

#include "block.h"
#include "numbers.h"

#define MZT_DEVICE inline

namespace mezzotint {

struct Turing {
    static constexpr bool has_async_copies = false;
    static constexpr bool has_int8_products = true;
    static constexpr bool has_int4_products = true;
    static constexpr bool has_fp8_products = false;
    static constexpr int mma_k = 8;
};
struct Ampere {
    static constexpr bool has_async_copies = true;
    static constexpr bool has_int8_products = true;
    static constexpr bool has_int4_products = true;
    static constexpr bool has_fp8_products = false;
    static constexpr int mma_k = 16;
};
struct Hopper : Ampere {
    static constexpr bool has_int4_products = false;
};
struct Ada : Ampere {
    static constexpr bool has_fp8_products = true;
};

// Whether kernels can be run, and not only chosen from their lists, which compile in a fraction of the time.
#ifdef MEZZOTINT_LISTS_ONLY
constexpr bool kEmulated = false;
#else
constexpr bool kEmulated = true;
#endif

namespace emulator {

struct Shuffle {
    float value;
    int mask;
    float result;
};

inline void act_shuffle(Block&, void* const (&given)[kLanes]) {
    for (int lane = 0; lane < kLanes; ++lane) {
        Shuffle& mine = *static_cast<Shuffle*>(given[lane]);
        mine.result = static_cast<Shuffle*>(given[lane ^ mine.mask])->value;
    }
}

struct Vote {
    bool value;
    uint32_t result;
};

inline void act_vote(Block&, void* const (&given)[kLanes]) {
    uint32_t bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) bits |= static_cast<uint32_t>(static_cast<Vote*>(given[lane])->value) << lane;
    for (void* each : given) static_cast<Vote*>(each)->result = bits;
}

struct Load {
    uint32_t address;
    uint32_t* to;
};

// The matrix whose rows lie at the addresses of lanes first..first+7; one access reads 8 rows from 8 groups of banks.
inline void load_one(Block& block, void* const (&given)[kLanes], int matrix, bool transposed) {
    uint16_t rows[8][8];
    std::set<uint32_t> seen[8];
    size_t most = 1;
    for (int row = 0; row < 8; ++row) {
        const uint32_t address = static_cast<Load*>(given[matrix * 8 + row])->address;
        std::memcpy(rows[row], block.shared_at(address, 16, 16), 16);
        auto& group = seen[address / 16 % 8];
        group.insert(address);
        if (group.size() > most) most = group.size();
    }
    block.counts.bank_conflicts += static_cast<int64_t>(most) - 1;
    ++block.counts.matrix_loads;
    for (int lane = 0; lane < kLanes; ++lane) {
        const int row = lane / 4, column = lane % 4 * 2;
        const uint32_t low = transposed ? rows[column][row] : rows[row][column];
        const uint32_t high = transposed ? rows[column + 1][row] : rows[row][column + 1];
        static_cast<Load*>(given[lane])->to[matrix] = low | high << 16;
    }
}

template <int matrices, bool transposed>
void act_load(Block& block, void* const (&given)[kLanes]) {
    for (int matrix = 0; matrix < matrices; ++matrix) load_one(block, given, matrix, transposed);
}

template <int matrices, bool transposed>
void load(uint32_t (&to)[matrices], uint32_t address) {
    static const char purpose = 0;
    Load mine{address, to};
    Block::current().meet(&purpose, &mine, &act_load<matrices, transposed>);
}

struct Product {
    float* d;
    uint32_t a[4], b[2];
    float sums[4] = {};  // where the caller's are of 16 bits
};

// Half `high` of a register as a number.
template <typename T>
float half_of(uint32_t pair, int high) {
    return to_float(T{static_cast<uint16_t>(pair >> (16 * high))});
}

// Rows of a and columns of b are gathered from the lanes that hold them; sums are exact before they are rounded once.
template <typename T, int k>
void act_product(Block& block, void* const (&given)[kLanes]) {
    float a[16][k], b[8][k];
    for (int lane = 0; lane < kLanes; ++lane) {
        const Product& mine = *static_cast<const Product*>(given[lane]);
        for (int part = 0; part < k / 8; ++part) {
            for (int high = 0; high < 2; ++high) {
                const int deep = part * 8 + lane % 4 * 2 + high;
                a[lane / 4][deep] = half_of<T>(mine.a[2 * part], high);
                a[lane / 4 + 8][deep] = half_of<T>(mine.a[2 * part + 1], high);
                b[lane / 4][deep] = half_of<T>(mine.b[part], high);
            }
        }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        Product& mine = *static_cast<Product*>(given[lane]);
        for (int each = 0; each < 4; ++each) {
            const int row = lane / 4 + each / 2 * 8, column = lane % 4 * 2 + each % 2;
            double sum = mine.d[each];
            for (int deep = 0; deep < k; ++deep) sum += static_cast<double>(a[row][deep]) * b[column][deep];
            mine.d[each] = static_cast<float>(sum);
        }
    }
    ++block.counts.products;
}

// Sums of 16 bits: rounded after each eight products, as deep as they are added at once.
template <int k>
void act_half_product(Block& block, void* const (&given)[kLanes]) {
    float before[kLanes][4];
    for (int lane = 0; lane < kLanes; ++lane) {
        Product& mine = *static_cast<Product*>(given[lane]);
        const uint32_t* d = reinterpret_cast<const uint32_t*>(mine.d);
        for (int each = 0; each < 4; ++each) before[lane][each] = half_of<float16>(d[each / 2], each % 2);
        std::memcpy(mine.sums, before[lane], sizeof mine.sums);
        mine.d = mine.sums;
    }
    act_product<float16, k>(block, given);
}

template <int k>
void half_product(uint32_t (&d)[2], Product& mine) {
    static const char purpose = 0;
    mine.d = reinterpret_cast<float*>(d);
    Block::current().meet(&purpose, &mine, &act_half_product<k>);
    d[0] = to_float16(mine.sums[0]).bits | static_cast<uint32_t>(to_float16(mine.sums[1]).bits) << 16;
    d[1] = to_float16(mine.sums[2]).bits | static_cast<uint32_t>(to_float16(mine.sums[3]).bits) << 16;
}

struct IntegerProduct {
    int32_t* d;
    uint32_t a[4], b[2];
};

// A register's integer of `bits` bits, with its sign.
template <int bits>
int integer_of(uint32_t register_, int which) {
    return static_cast<int32_t>(register_ << (32 - bits - bits * which)) >> (32 - bits);
}

template <typename Left, int bits>
int left_of(uint32_t register_, int which) {
    return bits == 8 ? static_cast<Left>(register_ >> (8 * which)) : integer_of<bits>(register_, which);
}

// `rows` of 16 or 8; k of 32 or 16, of 4 bits twice that; a of bytes with or without a sign.
template <typename Left, int rows, int k, int bits>
void act_integer_product(Block& block, void* const (&given)[kLanes]) {
    constexpr int halves = rows / 8, held = 32 / bits;  // in a register
    int a[rows][k], b[8][k];
    for (int lane = 0; lane < kLanes; ++lane) {
        const IntegerProduct& mine = *static_cast<const IntegerProduct*>(given[lane]);
        for (int part = 0; part < k / (4 * held); ++part) {
            for (int each = 0; each < held; ++each) {
                const int deep = (part * 4 + lane % 4) * held + each;
                for (int half = 0; half < halves; ++half) {
                    a[lane / 4 + 8 * half][deep] = left_of<Left, bits>(mine.a[halves * part + half], each);
                }
                b[lane / 4][deep] = integer_of<bits>(mine.b[part], each);
            }
        }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        const IntegerProduct& mine = *static_cast<const IntegerProduct*>(given[lane]);
        for (int each = 0; each < 2 * halves; ++each) {
            for (int deep = 0; deep < k; ++deep) {
                mine.d[each] += a[lane / 4 + each / 2 * 8][deep] * b[lane % 4 * 2 + each % 2][deep];
            }
        }
    }
    ++block.counts.products;
}

template <typename Left, int rows, int k, int bits = 8>
void integer_product(IntegerProduct& mine) {
    static const char purpose = 0;
    Block::current().meet(&purpose, &mine, &act_integer_product<Left, rows, k, bits>);
}

template <typename Left, int k, int bits = 8>
void short_integer_product(int32_t& d0, int32_t& d1, uint32_t a, uint32_t b) {
    int32_t d[2] = {d0, d1};
    IntegerProduct mine{d, {a, 0, 0, 0}, {b, 0}};
    integer_product<Left, 8, k, bits>(mine);
    d0 = d[0];
    d1 = d[1];
}

template <typename T, int k>
void product(Product& mine) {
    static const char purpose = 0;
    Block::current().meet(&purpose, &mine, &act_product<T, k>);
}

}  // namespace emulator

inline int thread_index() { return emulator::Block::current().thread().index; }
inline int thread_index_anew() { return thread_index(); }
inline uint32_t block_index() { return static_cast<uint32_t>(emulator::Block::current().index()); }
inline uint32_t block_index_anew() { return block_index(); }
inline void barrier() { emulator::Block::current().barrier(); }

inline float shuffle_xor(float value, int mask) {
    static const char purpose = 0;
    emulator::Shuffle mine{value, mask, 0};
    emulator::Block::current().meet(&purpose, &mine, &emulator::act_shuffle);
    return mine.result;
}

inline uint32_t shuffle_xor(uint32_t value, int mask) {
    float bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits = shuffle_xor(bits, mask);
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

inline uint32_t ballot(bool value) {
    static const char purpose = 0;
    emulator::Vote mine{value, 0};
    emulator::Block::current().meet(&purpose, &mine, &emulator::act_vote);
    return mine.result;
}

inline float multiply_add_toward_zero(float a, float b, float c) {
    const double exact = static_cast<double>(a) * b + c;
    const float nearest = static_cast<float>(exact);
    return std::abs(nearest) > std::abs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
}

inline float exp2_approximate(float x) { return std::exp2(x); }
inline float log2_approximate(float x) { return std::log2(x); }
inline float reciprocal_approximate(float x) { return 1 / x; }
inline float larger(float a, float b) { return a > b || a != a ? a : b; }

template <typename T>
uint32_t pack(float low, float high) {
    return from_float<T>(low).bits | static_cast<uint32_t>(from_float<T>(high).bits) << 16;
}

inline uint32_t shared_address(const void* pointer) {
    return static_cast<uint32_t>(static_cast<const char*>(pointer) - emulator::Block::current().shared());
}

template <class Architecture>
void copy16(uint32_t to, const void* from, bool wanted) {
    emulator::Block::current().copy16(to, from, wanted, Architecture::has_async_copies);
}
template <class Architecture>
void commit_copies() {
    if (Architecture::has_async_copies) emulator::Block::current().commit_copies();
}
template <class Architecture, int pending>
void wait_copies() {
    if (Architecture::has_async_copies) emulator::Block::current().wait_copies(pending);
}

struct alignas(16) Chunk {
    uint32_t words[4];
};
inline Chunk load_shared16(uint32_t address) {
    Chunk value;
    std::memcpy(&value, emulator::Block::current().shared_at(address, 16, 16), 16);
    return value;
}
inline void store_shared16(uint32_t address, const Chunk& value) {
    std::memcpy(emulator::Block::current().shared_at(address, 16, 16), &value, 16);
}
inline uint32_t load_shared4(uint32_t address) {
    uint32_t value;
    std::memcpy(&value, emulator::Block::current().shared_at(address, 4, 4), 4);
    return value;
}

inline uint32_t pick_bytes(uint32_t low, uint32_t high, uint32_t digits) {
    const uint64_t eight = static_cast<uint64_t>(high) << 32 | low;
    uint32_t picked = 0;
    for (int byte = 0; byte < 4; ++byte) {
        picked |= static_cast<uint32_t>(eight >> (8 * (digits >> (4 * byte) & 7)) & 255) << (8 * byte);
    }
    return picked;
}

inline uint32_t add_bytes(uint32_t four, uint32_t sum) {
    for (int byte = 0; byte < 4; ++byte) sum += four >> (8 * byte) & 255;
    return sum;
}

inline void load_matrices(uint32_t (&to)[4], uint32_t address) { emulator::load<4, false>(to, address); }
inline void load_matrices(uint32_t (&to)[2], uint32_t address) { emulator::load<2, false>(to, address); }
inline void load_matrices_transposed(uint32_t (&to)[4], uint32_t address) { emulator::load<4, true>(to, address); }
inline void load_matrices_transposed(uint32_t (&to)[2], uint32_t address) { emulator::load<2, true>(to, address); }

template <typename T>
void multiply_k8(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b) {
    emulator::Product mine{d, {a0, a1, 0, 0}, {b, 0}};
    emulator::product<T, 8>(mine);
}
template <typename T>
void multiply_k16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    emulator::Product mine{d, {a[0], a[1], a[2], a[3]}, {b0, b1}};
    emulator::product<T, 16>(mine);
}

template <typename T>
float low_number(uint32_t pair) {
    return emulator::half_of<T>(pair, 0);
}
template <typename T>
float high_number(uint32_t pair) {
    return emulator::half_of<T>(pair, 1);
}

inline float low_half(uint32_t pair) { return emulator::half_of<float16>(pair, 0); }
inline float high_half(uint32_t pair) { return emulator::half_of<float16>(pair, 1); }

inline void multiply_half_k8(uint32_t (&d)[2], uint32_t a0, uint32_t a1, uint32_t b) {
    emulator::Product mine{nullptr, {a0, a1, 0, 0}, {b, 0}};
    emulator::half_product<8>(d, mine);
}
inline void multiply_half_k16(uint32_t (&d)[2], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    emulator::Product mine{nullptr, {a[0], a[1], a[2], a[3]}, {b0, b1}};
    emulator::half_product<16>(d, mine);
}
inline void multiply_int8_k32(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    emulator::IntegerProduct mine{d, {a[0], a[1], a[2], a[3]}, {b0, b1}};
    emulator::integer_product<int8_t, 16, 32>(mine);
}
inline void multiply_int8_k16(int32_t& d0, int32_t& d1, uint32_t a, uint32_t b) {
    emulator::short_integer_product<int8_t, 16>(d0, d1, a, b);
}
inline void multiply_bytes_k32(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    emulator::IntegerProduct mine{d, {a[0], a[1], a[2], a[3]}, {b0, b1}};
    emulator::integer_product<uint8_t, 16, 32>(mine);
}
inline void multiply_bytes_k16(int32_t& d0, int32_t& d1, uint32_t a, uint32_t b) {
    emulator::short_integer_product<uint8_t, 16>(d0, d1, a, b);
}

inline void multiply_int4_k64(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    emulator::IntegerProduct mine{d, {a[0], a[1], a[2], a[3]}, {b0, b1}};
    emulator::integer_product<int8_t, 16, 64, 4>(mine);
}
inline void multiply_int4_k32(int32_t& d0, int32_t& d1, uint32_t a, uint32_t b) {
    emulator::short_integer_product<int8_t, 32, 4>(d0, d1, a, b);
}

}  // namespace mezzotint

#include "float8.h"
