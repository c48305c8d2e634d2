#include "rows.h"

#include "kernel.h"

namespace mezzotint::quantize {

namespace {

#ifdef MEZZOTINT_EMULATOR

template <typename Element, int preparation>
void run_rows(const void* params, void* shared) {
    quantize_block<Element, preparation>(*static_cast<const QuantizeParams*>(params), static_cast<float*>(shared));
}

template <typename Element, int preparation>
Entry entry() {
    return &run_rows<Element, preparation>;
}

#else

template <typename Element, int preparation>
__global__ void __maxnreg__(80) quantize_rows(const __grid_constant__ QuantizeParams params) {
    extern __shared__ float boards[];
    quantize_block<Element, preparation>(params, boards);
}

template <typename Element, int preparation>
Entry entry() {
    return reinterpret_cast<Entry>(&quantize_rows<Element, preparation>);
}

#endif

template <typename Element>
Entry entry_of_format(uint32_t preparation) {
    switch (preparation) {
        case MZT_LAYER_NORM: return entry<Element, MZT_LAYER_NORM>();
        case MZT_RMS_NORM: return entry<Element, MZT_RMS_NORM>();
        case MZT_SILU: return entry<Element, MZT_SILU>();
        case MZT_GELU_TANH: return entry<Element, MZT_GELU_TANH>();
        case MZT_GEGLU: return entry<Element, MZT_GEGLU>();
    }
    return entry<Element, MZT_AS_IT_IS>();
}

}  // namespace

Entry entry_of(uint32_t dtype, uint32_t preparation) {
    return dtype == MZT_FLOAT16 ? entry_of_format<float16>(preparation) : entry_of_format<bfloat16>(preparation);
}

}  // namespace mezzotint::quantize
