#include "passes.h"

#include "../api.h"
#include "join.h"
#include "measure.h"
#include "normalize.h"

namespace mezzotint::group_norm {

namespace {

#ifdef MEZZOTINT_EMULATOR

template <typename Element>
void run_measure(const void* params, void* shared) {
    measure_block<Element>(*static_cast<const GroupNormParams*>(params), static_cast<float*>(shared));
}
template <typename Element>
void run_join(const void* params, void* shared) {
    join_block<Element>(*static_cast<const GroupNormParams*>(params), static_cast<float*>(shared));
}
template <typename Element, bool silu>
void run_normalize(const void* params, void*) {
    normalize_block<Element, silu>(*static_cast<const GroupNormParams*>(params));
}

template <typename Element>
Passes passes(bool silu) {
    return {&run_measure<Element>, &run_join<Element>,
            silu ? &run_normalize<Element, true> : &run_normalize<Element, false>};
}

#else

template <typename Element>
__global__ void __launch_bounds__(kThreads) measure_channels(const __grid_constant__ GroupNormParams params) {
    extern __shared__ float board[];
    measure_block<Element>(params, board);
}
template <typename Element>
__global__ void __launch_bounds__(kJoinThreads) join_groups(const __grid_constant__ GroupNormParams params) {
    extern __shared__ float board[];
    join_block<Element>(params, board);
}
template <typename Element, bool silu>
__global__ void __launch_bounds__(kThreads, 4) normalize_groups(const __grid_constant__ GroupNormParams params) {
    normalize_block<Element, silu>(params);
}

template <typename Element>
Passes passes(bool silu) {
    return {reinterpret_cast<Entry>(&measure_channels<Element>), reinterpret_cast<Entry>(&join_groups<Element>),
            silu ? reinterpret_cast<Entry>(&normalize_groups<Element, true>)
                 : reinterpret_cast<Entry>(&normalize_groups<Element, false>)};
}

#endif

}  // namespace

Passes passes_of(uint32_t dtype, bool silu) {
    return dtype == MZT_FLOAT16 ? passes<float16>(silu) : passes<bfloat16>(silu);
}

}  // namespace mezzotint::group_norm
