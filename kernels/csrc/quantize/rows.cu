#include "rows.h"

#include "groups.h"
#include "kernel.h"

namespace mezzotint::quantize {

namespace {

#ifdef MEZZOTINT_EMULATOR

template <typename Element, int preparation, int bits, bool floats = false>
void run_rows(const void* params, void* shared) {
    quantize_block<Element, preparation, bits, floats>(*static_cast<const QuantizeParams*>(params),
                                                       static_cast<float*>(shared));
}

template <typename Element>
void run_groups(const void* params, void* shared) {
    quantize_groups<Element>(*static_cast<const QuantizeParams*>(params), static_cast<float*>(shared));
}

template <typename Element>
Entry groups_entry() {
    return &run_groups<Element>;
}

template <typename Element, int preparation>
Entry entry(uint32_t bits, bool floats) {
    if (floats) return &run_rows<Element, preparation, 8, true>;
    return bits == 4 ? &run_rows<Element, preparation, 4> : &run_rows<Element, preparation, 8>;
}

#else

// Compiled to nothing where there are no products of such numbers.
template <typename Element, int preparation>
__global__ void __maxnreg__(80) quantize_rows(const __grid_constant__ QuantizeParams params) {
    if constexpr (ThisArchitecture::has_int8_products) {
        extern __shared__ float boards[];
        quantize_block<Element, preparation, 8>(params, boards);
    }
}

template <typename Element, int preparation>
__global__ void __maxnreg__(80) int4_quantize_rows(const __grid_constant__ QuantizeParams params) {
    if constexpr (ThisArchitecture::has_int8_products) {
        extern __shared__ float boards[];
        quantize_block<Element, preparation, 4>(params, boards);
    }
}

template <typename Element>
__global__ void __maxnreg__(80) int4_quantize_groups(const __grid_constant__ QuantizeParams params) {
    if constexpr (ThisArchitecture::has_int8_products) {
        extern __shared__ float boards[];
        quantize_groups<Element>(params, boards);
    }
}

template <typename Element>
Entry groups_entry() {
    return reinterpret_cast<Entry>(&int4_quantize_groups<Element>);
}

template <typename Element, int preparation>
__global__ void __maxnreg__(80) fp8_quantize_rows(const __grid_constant__ QuantizeParams params) {
    if constexpr (Fp8Architecture::has_fp8_products) {
        extern __shared__ float boards[];
        quantize_block<Element, preparation, 8, true>(params, boards);
    }
}

template <typename Element, int preparation>
Entry entry(uint32_t bits, bool floats) {
    if (floats) return reinterpret_cast<Entry>(&fp8_quantize_rows<Element, preparation>);
    return bits == 4 ? reinterpret_cast<Entry>(&int4_quantize_rows<Element, preparation>)
                     : reinterpret_cast<Entry>(&quantize_rows<Element, preparation>);
}

#endif

template <typename Element>
Entry entry_of_format(uint32_t preparation, uint32_t bits, bool floats) {
    switch (preparation) {
        case MZT_LAYER_NORM: return entry<Element, MZT_LAYER_NORM>(bits, floats);
        case MZT_RMS_NORM: return entry<Element, MZT_RMS_NORM>(bits, floats);
        case MZT_SILU: return entry<Element, MZT_SILU>(bits, floats);
        case MZT_GELU_TANH: return entry<Element, MZT_GELU_TANH>(bits, floats);
        case MZT_GEGLU: return entry<Element, MZT_GEGLU>(bits, floats);
    }
    return entry<Element, MZT_AS_IT_IS>(bits, floats);
}

}  // namespace

Entry entry_of(const MztQuantizeArgs& args) {
    const bool is_half = args.dtype == MZT_FLOAT16;
    if (args.scale_columns) return is_half ? groups_entry<float16>() : groups_entry<bfloat16>();
    return is_half ? entry_of_format<float16>(args.preparation, args.bits, args.floats != 0)
                   : entry_of_format<bfloat16>(args.preparation, args.bits, args.floats != 0);
}

}  // namespace mezzotint::quantize
