// The forward kernel over quantized copies.
#pragma once

#include "../kernel.h"
#include "mainloop.h"

namespace mezzotint {

// What the quantized copies left out: the values' sizes, and the keys' mean.
struct Restored {
    const float* v_scale;
    const float* q_mean;
    float scale;
    MZT_DEVICE float of_column(int column) const { return v_scale[column]; }
    MZT_DEVICE float lse_of_row(int row) const { return q_mean[row] * scale; }
};

template <class T>
MZT_DEVICE void int8_forward_block(const Int8Params& params, void* shared) {
    const ForwardParams& all = params.forward;
    const Place place = place_of<T>(all, block_index());
    const KeyRange keys = key_range<T>(all, place);
    const Sight sight = sight_of<T>(all, place, keys.limit);
    const int64_t q_head = place.batch * all.heads + place.head;
    const int64_t k_head = place.batch * params.kv_heads + place.head / all.heads_per_kv;

    typename Int8Mainloop<T>::Source source;
    source.q = params.q + q_head * params.q_rows * T::padded_dim;
    source.k = params.k + k_head * params.k_rows * T::padded_dim;
    source.v = static_cast<const uint16_t*>(params.v) + k_head * params.k_rows * T::head_dim;
    source.q_scale = params.q_scale + q_head * (params.q_rows / kQueryRows) * 8;
    source.k_scale = params.k_scale + k_head * (params.k_rows / kKeyRows) * 4;
    source.first_query = place.first_query;
    source.nq = all.nq;
    source.q_rows = params.q_rows;
    source.k_rows = params.k_rows;

    const float factor = factor_of<T>(all);
    Int8Mainloop<T> loop(source, shared_address(shared));
    loop.run(walk_of<T>(all, place, keys), keys.masked_tiles, sight, factor);
    const Restored finish{params.v_scale + k_head * T::head_dim, params.q_mean + q_head * all.nq, all.scale};
    write_out<T>(loop, all, place_of<T>(all, block_index_anew()), factor, finish);
}

}  // namespace mezzotint
