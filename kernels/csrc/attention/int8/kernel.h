// The forward kernels over quantized copies.
#pragma once

#include "../kernel.h"
#include "all_mainloop.h"
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

// The same where the largest weight of a tile is 255, or 28.
template <class T>
struct RestoredBytes : Restored {
    MZT_DEVICE float lse_of_row(int row) const {
        return Restored::lse_of_row(row) - (T::fp8_values ? kLnOf28 : kLnOf255);
    }
};

// The place of a head of queries and of its head of keys in the workspace.
struct Int8Heads {
    int64_t q, k;
};
template <class T>
MZT_DEVICE Int8Heads int8_heads(const Int8Params& params, const Place& place) {
    const ForwardParams& all = params.forward;
    return {place.batch * all.heads + place.head, place.batch * params.kv_heads + place.head / all.heads_per_kv};
}

template <class T>
MZT_DEVICE Int8Source int8_source(const Int8Params& params, const Place& place, int value_bytes) {
    const Int8Heads head = int8_heads<T>(params, place);
    Int8Source source;
    source.q = params.q + head.q * params.q_rows * T::padded_dim;
    source.k = params.k + head.k * params.k_rows * T::padded_dim;
    source.v = static_cast<const char*>(params.v) + head.k * params.k_rows * T::head_dim * value_bytes;
    source.q_scale = params.q_scale + head.q * (params.q_rows / kQueryRows) * 8;
    source.k_scale = params.k_scale + head.k * (params.k_rows / kKeyRows) * 4;
    source.first_query = place.first_query;
    source.nq = params.forward.nq;
    source.q_rows = params.q_rows;
    source.k_rows = params.k_rows;
    return source;
}

template <class T>
MZT_DEVICE Restored restored(const Int8Params& params, const Place& place) {
    const Int8Heads head = int8_heads<T>(params, place);
    return {params.v_scale + head.k * T::head_dim, params.q_mean + head.q * params.forward.nq, params.forward.scale};
}

template <class T>
MZT_DEVICE void int8_forward_block(const Int8Params& params, void* shared) {
    const ForwardParams& all = params.forward;
    const Place place = place_of<T>(all, block_index());
    const KeyRange keys = key_range<T>(all, place);
    const Sight sight = sight_of<T>(all, place, keys.limit);
    const float factor = factor_of<T>(all);
    Int8Mainloop<T> loop(int8_source<T>(params, place, 2), shared_address(shared));
    loop.run(walk_of<T>(all, place, keys), keys.masked_tiles, sight, factor);
    write_out<T>(loop, all, place_of<T>(all, block_index_anew()), restored<T>(params, place));
}

template <class T>
MZT_DEVICE void int8_all_block(const Int8Params& params, void* shared) {
    const ForwardParams& all = params.forward;
    const Place place = place_of<T>(all, block_index());
    const KeyRange keys = key_range<T>(all, place);
    const Sight sight = sight_of<T>(all, place, keys.limit);
    Int8AllMainloop<T> loop(int8_source<T>(params, place, 1), shared_address(shared));
    loop.run(keys.tiles, keys.masked_tiles, sight, all.factor);
    const Place out = place_of<T>(all, block_index_anew());
    write_out<T>(loop, all, out, RestoredBytes<T>{restored<T>(params, out)});
}

}  // namespace mezzotint
