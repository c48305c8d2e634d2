// How every kind of kernel is chosen: the cheapest of the instances that were compiled.
#pragma once

#include <cstdint>

#include "api.h"

namespace mezzotint {

constexpr double kCacheBytesPerCycle = 22;  // of the L2 cache, per multiprocessor
constexpr double kCyclesOfALaunch = 3000;   // until the second of two kernels that depend on each other has begun

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// In how many parts, of which each has blocks of its own, work costs least by `cost(parts)`; up to `most`. More parts
// than others are only worth their memory if they cost less than `worth` times as much.
template <class Cost>
int cheapest_splits(int64_t most, double worth, Cost cost) {
    int best = 1;
    double least = cost(1);
    for (int splits = 2; splits <= most; ++splits) {
        const double next = cost(splits);
        if (next >= worth * least) continue;
        least = next;
        best = splits;
    }
    return best;
}

template <class Instance>
struct Choice {
    const Instance* best = nullptr;
    uint32_t number = 0;
    double cost = 0;
    bool too_large = false;  // an instance would fit if the grid were not too large

    void offer(const Instance& instance, uint32_t its_number, double its_cost) {
        if (best && its_cost >= cost) return;
        best = &instance;
        number = its_number;
        cost = its_cost;
    }
};

// The instance of that number, counted over all lists, or null if there are not so many.
template <class List>
auto find_instance(int lists, List (*list_at)(int), uint32_t number) -> decltype(List::first) {
    for (int each = 0; each < lists; ++each) {
        const List list = list_at(each);
        if (number < static_cast<uint32_t>(list.count)) return list.first + number;
        number -= list.count;
    }
    return nullptr;
}

// Call `visit(instance, number)` for every instance. It happens at every launch, so it scans the lists only once.
template <class List, class Visit>
void visit_instances(int lists, List (*list_at)(int), Visit visit) {
    uint32_t number = 0;
    for (int each = 0; each < lists; ++each) {
        const List list = list_at(each);
        for (int place = 0; place < list.count; ++place) visit(list.first[place], number++);
    }
}

inline const char* name_of(MztDtype dtype) { return dtype == MZT_FLOAT16 ? "float16" : "bfloat16"; }

}  // namespace mezzotint
