#include "rows.h"

#include "kernel.h"

namespace mezzotint::quantize {

namespace {

#ifdef MEZZOTINT_EMULATOR

template <typename Element, int preparation, int bits>
void run_rows(const void* params, void* shared) {
    quantize_block<Element, preparation, bits>(*static_cast<const QuantizeParams*>(params), static_cast<float*>(shared));
}

template <typename Element, int preparation>
Entry entry(uint32_t bits) {
    return bits == 4 ? &run_rows<Element, preparation, 4> : &run_rows<Element, preparation, 8>;
}

#else

template <typename Element, int preparation>
__global__ void __maxnreg__(80) quantize_rows(const __grid_constant__ QuantizeParams params) {
    extern __shared__ float boards[];
    quantize_block<Element, preparation, 8>(params, boards);
}

template <typename Element, int preparation>
__global__ void __maxnreg__(80) int4_quantize_rows(const __grid_constant__ QuantizeParams params) {
    extern __shared__ float boards[];
    quantize_block<Element, preparation, 4>(params, boards);
}

template <typename Element, int preparation>
Entry entry(uint32_t bits) {
    return bits == 4 ? reinterpret_cast<Entry>(&int4_quantize_rows<Element, preparation>)
                     : reinterpret_cast<Entry>(&quantize_rows<Element, preparation>);
}

#endif

template <typename Element>
Entry entry_of_format(uint32_t preparation, uint32_t bits) {
    switch (preparation) {
        case MZT_LAYER_NORM: return entry<Element, MZT_LAYER_NORM>(bits);
        case MZT_RMS_NORM: return entry<Element, MZT_RMS_NORM>(bits);
        case MZT_SILU: return entry<Element, MZT_SILU>(bits);
        case MZT_GELU_TANH: return entry<Element, MZT_GELU_TANH>(bits);
        case MZT_GEGLU: return entry<Element, MZT_GEGLU>(bits);
    }
    return entry<Element, MZT_AS_IT_IS>(bits);
}

}  // namespace

Entry entry_of(uint32_t dtype, uint32_t preparation, uint32_t bits) {
    return dtype == MZT_FLOAT16 ? entry_of_format<float16>(preparation, bits)
                                : entry_of_format<bfloat16>(preparation, bits);
}

}  // namespace mezzotint::quantize
