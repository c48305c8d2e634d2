// The third pass: each number times its channel's factor, plus its term, and SiLU.
#pragma once

#include "moments.h"

namespace mezzotint::group_norm {

// x / (1 + exp(-x)); -0 where exp overflows.
MZT_DEVICE float silu_of(float x) { return x * reciprocal_approximate(1 + exp2_approximate(-kLog2E * x)); }

template <typename Element, bool silu>
MZT_DEVICE void normalize_block(const GroupNormParams& params) {
    const Place place(params);
    if (!place.is_there) return;
    const float* affine = params.affine + static_cast<int64_t>(place.batch) * 2 * params.channels + place.channel;
    float factors[kEight], terms[kEight];
#pragma unroll
    for (int each = 0; each < kEight; ++each) {
        factors[each] = affine[each];
        terms[each] = affine[params.channels + each];
    }
    const Element* from = static_cast<const Element*>(params.x) + place.batch * params.x_batch + place.channel;
    Element* to = static_cast<Element*>(params.out) + place.batch * params.out_batch + place.channel;
    for (int pixel = place.first; pixel < place.end; pixel += kDown) {
        float numbers[kEight];
        const Chunk read = *reinterpret_cast<const Chunk*>(from + pixel * params.x_pixel);
        unpack<Element>(numbers, read);
#pragma unroll
        for (int each = 0; each < kEight; ++each) {
            numbers[each] = numbers[each] * factors[each] + terms[each];
            if constexpr (silu) numbers[each] = silu_of(numbers[each]);
        }
        Chunk made;
#pragma unroll
        for (int word = 0; word < kEight / 2; ++word) {
            made.words[word] = pack<Element>(numbers[word * 2], numbers[word * 2 + 1]);
        }
        *reinterpret_cast<Chunk*>(to + pixel * params.out_pixel) = made;
    }
}

}  // namespace mezzotint::group_norm
