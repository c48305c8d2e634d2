#include "join.h"

#include "splits.h"

namespace mezzotint {

namespace {

#ifdef MEZZOTINT_EMULATOR

template <typename Element>
void join_splits(const void* params, void*) {
    join_block<Element>(*static_cast<const ForwardParams*>(params));
}

template <typename Element>
Entry entry() {
    return &join_splits<Element>;
}

#else

template <typename Element>
__global__ void __launch_bounds__(kJoinThreads) join_splits(const __grid_constant__ ForwardParams params) {
    join_block<Element>(params);
}

template <typename Element>
Entry entry() {
    return reinterpret_cast<Entry>(&join_splits<Element>);
}

#endif

}  // namespace

JoinLaunch join_launch(const ForwardParams& params, MztDtype dtype) {
    const int64_t chunks = static_cast<int64_t>(params.splits.all_rows) * params.splits.chunks;
    return {dtype == MZT_FLOAT16 ? entry<float16>() : entry<bfloat16>(), (chunks + kJoinThreads - 1) / kJoinThreads,
            kJoinThreads};
}

}  // namespace mezzotint
