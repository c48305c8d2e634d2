#include "rows.h"

#include "../prepare.h"
#include "round.h"

namespace mezzotint::quantize {

namespace {

// `boards` is the block's shared memory.
template <typename Element, int preparation, MztBlockFormat format>
MZT_DEVICE void quantize_block(const QuantizeParams& params, float* boards) {
    const Place place = place_of(params);
    Numbers x;
    prepare<Element, preparation>(x, place, params, boards, boards + kMostTeams);
    if constexpr (format == MZT_MXFP8) {
        write_row_mxfp8(x, place, params);
    } else {
        const float largest = join_row<Largest>(largest_magnitude(x), place, params, boards + 2 * kMostTeams);
        write_row_nvfp4(x, nvfp4_row_scale(largest), place, params);
    }
}

#ifdef MEZZOTINT_EMULATOR

template <typename Element, int preparation, MztBlockFormat format>
void run_rows(const void* params, void* shared) {
    quantize_block<Element, preparation, format>(*static_cast<const QuantizeParams*>(params),
                                                 static_cast<float*>(shared));
}

template <typename Element, int preparation>
Entry entry(uint32_t format) {
    return format == MZT_NVFP4 ? &run_rows<Element, preparation, MZT_NVFP4> : &run_rows<Element, preparation, MZT_MXFP8>;
}

#else

// The format as a number, which is readable in the kernel's name.
template <typename Element, int preparation, int format>
__global__ void __maxnreg__(80) block_scaled_quantize_rows(const __grid_constant__ QuantizeParams params) {
    if constexpr (kHasBlockScales) {
        extern __shared__ float boards[];
        quantize_block<Element, preparation, static_cast<MztBlockFormat>(format)>(params, boards);
    }
}

template <typename Element, int preparation>
Entry entry(uint32_t format) {
    return format == MZT_NVFP4
               ? reinterpret_cast<Entry>(&block_scaled_quantize_rows<Element, preparation, MZT_NVFP4>)
               : reinterpret_cast<Entry>(&block_scaled_quantize_rows<Element, preparation, MZT_MXFP8>);
}

#endif

template <typename Element>
Entry entry_of_format(uint32_t preparation, uint32_t format) {
    switch (preparation) {
        case MZT_LAYER_NORM: return entry<Element, MZT_LAYER_NORM>(format);
        case MZT_RMS_NORM: return entry<Element, MZT_RMS_NORM>(format);
        case MZT_SILU: return entry<Element, MZT_SILU>(format);
        case MZT_GELU_TANH: return entry<Element, MZT_GELU_TANH>(format);
        case MZT_GEGLU: return entry<Element, MZT_GEGLU>(format);
    }
    return entry<Element, MZT_AS_IT_IS>(format);
}

}  // namespace

Entry block_scaled_entry_of(uint32_t dtype, uint32_t preparation, uint32_t format) {
    return dtype == MZT_FLOAT16 ? entry_of_format<float16>(preparation, format)
                                : entry_of_format<bfloat16>(preparation, format);
}

}  // namespace mezzotint::quantize
