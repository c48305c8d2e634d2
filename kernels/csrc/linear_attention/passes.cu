#include "passes.h"

#include "apply.h"
#include "join.h"
#include "summarize.h"

namespace mezzotint::linear_attention {

namespace {

template <typename Element>
constexpr bool kIsFloat16 = false;
template <>
constexpr bool kIsFloat16<float16> = true;

// Whether the architecture has products of the format; others are compiled to nothing for it.
template <class Architecture, typename Element>
constexpr bool kRunsHere = Architecture::mma_k == 16 || kIsFloat16<Element>;

#ifdef MEZZOTINT_EMULATOR

template <class Architecture, typename Element, int map>
void run_summarize(const void* params, void* shared) {
    if constexpr (kRunsHere<Architecture, Element>) {
        const LinearAttentionParams& given = *static_cast<const LinearAttentionParams*>(params);
        Summary<Architecture, Element, map>(given, static_cast<char*>(shared)).run();
    }
}
template <typename Element>
void run_join(const void* params, void* shared) {
    join_block<Element>(*static_cast<const LinearAttentionParams*>(params), static_cast<float*>(shared));
}
template <class Architecture, typename Element, int map>
void run_apply(const void* params, void* shared) {
    if constexpr (kRunsHere<Architecture, Element>) {
        const LinearAttentionParams& given = *static_cast<const LinearAttentionParams*>(params);
        Output<Architecture, Element, map>(given, static_cast<char*>(shared)).run();
    }
}

template <class Architecture, typename Element, int map>
Passes passes() {
    return {&run_summarize<Architecture, Element, map>, &run_join<Element>, &run_apply<Architecture, Element, map>};
}

#else

template <typename Element, int map>
__global__ void __launch_bounds__(kKeyThreads) summarize_keys(const __grid_constant__ LinearAttentionParams params) {
    if constexpr (kRunsHere<ThisArchitecture, Element>) {
        extern __shared__ __align__(128) char shared[];
        Summary<ThisArchitecture, Element, map>(params, shared).run();
    }
}
template <typename Element>
__global__ void __launch_bounds__(kJoinThreads) join_sums(const __grid_constant__ LinearAttentionParams params) {
    extern __shared__ __align__(128) char shared[];
    join_block<Element>(params, reinterpret_cast<float*>(shared));
}
template <typename Element, int map>
__global__ void __launch_bounds__(kQueryThreads, 2) apply_summary(const __grid_constant__ LinearAttentionParams params) {
    if constexpr (kRunsHere<ThisArchitecture, Element>) {
        extern __shared__ __align__(128) char shared[];
        Output<ThisArchitecture, Element, map>(params, shared).run();
    }
}

template <class, typename Element, int map>
Passes passes() {
    return {reinterpret_cast<Entry>(&summarize_keys<Element, map>), reinterpret_cast<Entry>(&join_sums<Element>),
            reinterpret_cast<Entry>(&apply_summary<Element, map>)};
}

#endif

template <class Architecture, typename Element>
Passes of_format(uint32_t map) {
    switch (map) {
        case MZT_RELU: return passes<Architecture, Element, MZT_RELU>();
        case MZT_ELU_PLUS_ONE: return passes<Architecture, Element, MZT_ELU_PLUS_ONE>();
    }
    return passes<Architecture, Element, MZT_IDENTITY>();
}

template <class Architecture>
Passes of_architecture(uint32_t dtype, uint32_t map) {
    return dtype == MZT_FLOAT16 ? of_format<Architecture, float16>(map) : of_format<Architecture, bfloat16>(map);
}

}  // namespace

Passes passes_of(uint32_t dtype, uint32_t map) { return of_architecture<Ampere>(dtype, map); }
#ifdef MEZZOTINT_EMULATOR
Passes turing_passes_of(uint32_t dtype, uint32_t map) { return of_architecture<Turing>(dtype, map); }
#endif

}  // namespace mezzotint::linear_attention
