// Which keys a query sees, and what is added to its scores.
#pragma once

#include <math.h>

#include "params.h"
#include "traits.h"

namespace mezzotint {

// The scores' view of one block: everything that is the same for all of its tiles.
struct Sight {
    int first_query;  // of the block
    int key_limit;  // keys from there on do not exist for this batch
    int causal_shift;  // query i sees keys up to i + shift; beyond all keys where it is not causal
    const uint8_t* key_mask;
    const void* bias;
    bool bias_is_float;
    int64_t bias_query, bias_key;
    float scale;  // times log2(e)
};

constexpr float kLowestBias = -1e38f;

// Times log2(e), as all masked scores are.
// The first of the rows that a thread holds.
template <class T>
MZT_DEVICE int first_row_of(int first_query, int thread) {
    return first_query + thread / 32 * T::Shape::rows_per_warp + thread % 32 / 4;
}

template <typename Element>
MZT_DEVICE float bias_at(const Sight& sight, int row, int key) {
    const int64_t offset = row * sight.bias_query + key * sight.bias_key;
    const float bias = sight.bias_is_float ? static_cast<const float*>(sight.bias)[offset]
                                           : to_float(static_cast<const Element*>(sight.bias)[offset]);
    // Masks are often the lowest finite number, which times log2(e) would be -inf, and -inf - -inf no number.
    return (bias < kLowestBias && bias > -INFINITY ? kLowestBias : bias) * kLog2E;
}

// Scores s (16 rows x tile_n keys from `first_key` on, as this thread holds them) become scale * s + bias where the key
// is seen and -inf where it is not. The rows begin `below` those of the block's; rows past the last query read no bias.
template <class T>
MZT_DEVICE void mask_scores(float (&s)[T::n_tiles][4], const Sight& sight, int first_key, int below, int nq) {
    const int thread = thread_index_anew();
    const int lane_key = first_key + thread % 4 * 2;
    const int first_row = first_row_of<T>(sight.first_query, thread) + below;
#pragma unroll
    for (int n = 0; n < T::n_tiles; ++n) {
#pragma unroll
        for (int each = 0; each < 4; ++each) {
            const int key = lane_key + n * 8 + each % 2;
            const int row = first_row + each / 2 * 8;
            bool seen = key < sight.key_limit && key <= row + sight.causal_shift;
            if constexpr (T::masked) {
                if (sight.key_mask) seen = seen && sight.key_mask[key];
                s[n][each] *= sight.scale;
                if (sight.bias && seen && row < nq) s[n][each] += bias_at<typename T::Element>(sight, row, key);
            }
            if (!seen) s[n][each] = -INFINITY;
        }
    }
}

}  // namespace mezzotint
