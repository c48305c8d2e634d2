// csrc/hopper_primitives.h as a processor plays it.
#pragma once

#include "machine.h"

namespace mezzotint {

constexpr bool kHasWideProducts = true;

namespace emulator {

inline AsyncUnit& units() { return Block::current().units; }
inline int this_warp() { return Block::current().thread().index / kLanes; }

// What a warp does as one, when all its lanes are here: `act(warp)`.
template <class Act>
void together(const Act& act) {
    static const char purpose = 0;
    struct Given {
        const Act* act;
        int warp;
    } mine{&act, this_warp()};
    Block::current().meet(&purpose, &mine, [](Block&, void* const (&given)[kLanes]) {
        const Given& first = *static_cast<Given*>(given[0]);
        (*first.act)(first.warp);
    });
}

struct Same {
    int value;
};
inline void act_same(Block&, void* const (&given)[kLanes]) {
    for (void* each : given) static_cast<Same*>(each)->value = static_cast<Same*>(given[0])->value;
}

template <typename T>
float decode(uint16_t bits) {
    return to_float(T{bits});
}

struct WideLane {
    WideProduct* product;  // that of the first lane counts
    float* d;
    const uint32_t* a;
    int warp;
};
inline void act_wide(Block& block, void* const (&given)[kLanes]) {
    WideProduct& product = *static_cast<WideLane*>(given[0])->product;
    for (int lane = 0; lane < kLanes; ++lane) {
        const WideLane& mine = *static_cast<WideLane*>(given[lane]);
        product.d[lane] = mine.d;
        product.a[lane] = mine.a;
    }
    block.units.products.begin(static_cast<WideLane*>(given[0])->warp, product);
}

template <typename Element>
void begin_wide(float* d, const uint32_t* a, uint64_t left, uint64_t right, int n, bool add) {
    static const char purpose = 0;
    WideProduct product{n, &decode<Element>, {}, {}, left, right, add, {}, {}};
    WideLane mine{&product, d, a, this_warp()};
    Block::current().meet(&purpose, &mine, &act_wide);
}

}  // namespace emulator

inline int uniform(int value) {
    static const char purpose = 0;
    emulator::Same mine{value};
    emulator::Block::current().meet(&purpose, &mine, &emulator::act_same);
    return mine.value;
}

inline void prepare_barrier(uint32_t barrier, uint32_t arrivals) { emulator::units().prepare(barrier, arrivals); }
inline void publish_barriers() { emulator::units().publish(); }
inline void arrive(uint32_t barrier) { emulator::units().arrive(barrier, 0); }
inline void arrive_and_announce(uint32_t barrier, uint32_t bytes) { emulator::units().arrive(barrier, bytes); }
inline void wait_phase(uint32_t barrier, uint32_t parity) {
    emulator::Block::current().wait_until([=] { return emulator::units().has_ended(barrier, parity); });
}
inline void wait_turn(int number, int threads) { emulator::units().wait_turn(number, threads); }
inline void give_turn(int number, int threads) { emulator::units().give_turn(number, threads); }

inline void copy_box(uint32_t to, const TensorMap* map, uint32_t barrier, int column, int row, int head, int batch) {
    emulator::units().copy({reinterpret_cast<const Tiles*>(map), to, barrier, column, row, head, batch});
}

template <int registers>
void keep_registers() {
    emulator::together([](int warp) { emulator::units().keep_registers(warp, registers); });
}
template <int registers>
void take_registers() {
    const int warp = emulator::this_warp();
    emulator::Block::current().wait_until([=] { return emulator::units().take_registers(warp, registers); });
}

inline void begin_products() {
    emulator::together([](int warp) { emulator::units().products.fence(warp); });
}
inline void commit_products() {
    emulator::together([](int warp) { emulator::units().products.commit(warp); });
}
template <int pending>
void wait_products() {
    emulator::together([](int warp) { emulator::units().products.wait(warp, pending); });
}
template <int count>
void hold(float (&)[count][4]) {}

template <typename Element, int n>
struct SharedProduct {
    static void begin(float (&d)[n / 8][4], uint64_t left, uint64_t right, bool add) {
        emulator::begin_wide<Element>(d[0], nullptr, left, right, n, add);
    }
};
template <typename Element, int n>
struct RegisterProduct {
    static void begin(float (&d)[n / 8][4], const uint32_t (&left)[4], uint64_t right) {
        emulator::begin_wide<Element>(d[0], left, 0, right, n, true);
    }
};

}  // namespace mezzotint
