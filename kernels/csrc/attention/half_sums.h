// The forward kernel whose products of weights and values are summed in float16 within a tile of keys.
//
// A pass before it copies the values to float16, each column divided by its largest magnitude, as for 8-bit scores
// (int8/quantize.h): so those of bfloat16 stay in range and precise, a tile's sum of 64 is at most 64 * 256, and no value
// that is finite makes one infinite. Queries and keys are as they are.
#pragma once

#include "int8/kernel.h"

namespace mezzotint {

// What the copies of the values left out.
struct RestoredColumns {
    const float* v_scale;
    MZT_DEVICE float of_column(int column) const { return v_scale[column]; }
    MZT_DEVICE float lse_of_row(int) const { return 0; }
};

template <class T>
MZT_DEVICE void half_sums_block(const Int8Params& params, void* shared) {
    const ForwardParams& all = params.forward;
    const Place place = place_of<T>(all, block_index());
    const KeyRange keys = key_range<T>(all, place);
    const Sight sight = sight_of<T>(all, place, keys.limit);

    typename Mainloop<T>::Source source = source_of<T>(all, place, keys.limit);
    source.v = static_cast<const float16*>(params.v) + int8_heads<T>(params, place).k * params.k_rows * T::head_dim;
    source.v_row = T::head_dim;

    const float factor = factor_of<T>(all);
    Mainloop<T> loop(source, shared_address(shared));
    loop.run(walk_of<T>(all, place, keys), keys.masked_tiles, sight, factor);
    const Place out = place_of<T>(all, block_index_anew());
    write_out<T>(loop, all, out, RestoredColumns{params.v_scale + int8_heads<T>(params, out).k * T::head_dim});
}

}  // namespace mezzotint
