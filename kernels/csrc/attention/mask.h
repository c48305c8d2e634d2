// Which keys a query sees, and what is added to its scores.
//
// Where there are masks a tile's keys are bits: a warp votes on the bytes of the key mask, 32 keys at a time, and
// lengths and the causal edge are runs of ones. So a score costs a test of a bit, and keys that are all seen cost none.
#pragma once

#include <math.h>

#include "params.h"
#include "tile_walk.h"
#include "traits.h"

namespace mezzotint {

// The scores' view of one block: everything that is the same for all of its tiles.
struct Sight {
    int first_query;  // of the block
    int last_query;  // that exists
    int key_limit;  // keys from there on do not exist for this batch
    int causal_shift;  // query i sees keys up to i + shift; beyond all keys where it is not causal
    const uint8_t* key_mask;
    const void* bias;
    bool bias_is_float, bias_in_pairs;  // as in the params
    int64_t bias_query, bias_key;
    float scale;  // times log2(e)
};

template <class T>
constexpr int kKeyWords = (T::Shape::tile_n + 31) / 32;

// The first of the rows that a thread holds.
template <class T>
MZT_DEVICE int first_row_of(int first_query, int thread) {
    return first_query + thread / 32 * T::Shape::rows_per_warp + thread % 32 / 4;
}

// What a lane reads of a tile's key mask, every 32nd key; asked for before the scores are made, which takes as long.
template <class T>
struct MaskBytes {
    uint8_t shown[kKeyWords<T>] = {};

    MZT_DEVICE MaskBytes(const Sight& sight, int first_key) {
        if constexpr (T::masked) {
            if (!sight.key_mask) return;
#pragma unroll
            for (int word = 0; word < kKeyWords<T>; ++word) {
                const int key = first_key + word * 32 + thread_index_anew() % 32;
                if (key < sight.key_limit) shown[word] = sight.key_mask[key];
            }
        }
    }
};

// The lowest `count` bits; none below 1, all from 32 on.
MZT_DEVICE uint32_t lowest_bits(int count) { return count <= 0 ? 0 : count >= 32 ? ~0u : (1u << count) - 1; }

// Two neighbours of a bias that lie on a multiple of their size.
struct alignas(8) Pair {
    float low, high;
};
MZT_DEVICE void load_pair(float (&to)[2], const float* from) {
    const Pair pair = *reinterpret_cast<const Pair*>(from);
    to[0] = pair.low;
    to[1] = pair.high;
}
template <typename Element>
MZT_DEVICE void load_pair(float (&to)[2], const Element* from) {
    const uint32_t pair = *reinterpret_cast<const uint32_t*>(from);
    to[0] = low_number<Element>(pair);
    to[1] = high_number<Element>(pair);
}

// Adds log2(e) times the bias. Masks are often the lowest finite number, which rounded to nearest would become -inf,
// and -inf - -inf no number; rounded towards zero it stays finite.
MZT_DEVICE void add_bias(float& score, float bias) { score = multiply_add_toward_zero(bias, kLog2E, score); }

// Queries and keys that do not exist get the bias of the last one.
template <typename Bias>
MZT_DEVICE const Bias* bias_of_row(const Sight& sight, int row) {
    return static_cast<const Bias*>(sight.bias) + (row < sight.last_query ? row : sight.last_query) * sight.bias_query;
}

template <class T, typename Bias>
MZT_DEVICE void add_pairs(float (&s)[T::n_tiles][4], const Sight& sight, int lane_key, int first_row) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const Bias* from = bias_of_row<Bias>(sight, first_row + half * 8) + lane_key;
#pragma unroll
        for (int n = 0; n < T::n_tiles; ++n) {
            float bias[2];
            load_pair(bias, from + n * 8);
            add_bias(s[n][2 * half], bias[0]);
            add_bias(s[n][2 * half + 1], bias[1]);
        }
    }
}

// What was the first goes to the end: registers have no index that is found out when they are used.
template <class T>
MZT_DEVICE void rotate(float (&s)[T::n_tiles][4], const float (&done)[2][4]) {
#pragma unroll
    for (int n = 0; n < T::n_tiles; ++n) {
#pragma unroll
        for (int each = 0; each < 4; ++each) {
            s[n][each] = n + 2 < T::n_tiles ? s[(n + 2) % T::n_tiles][each] : done[n % 2][each];
        }
    }
}

// One at a time, at ragged ends and for odd strides; in a loop over 16 keys, so that few addresses are held at once.
template <class T, typename Bias>
MZT_DEVICE void add_singly(float (&s)[T::n_tiles][4], const Sight& sight, int lane_key, int first_row) {
    const Bias* from[2] = {bias_of_row<Bias>(sight, first_row), bias_of_row<Bias>(sight, first_row + 8)};
    const int last = sight.key_limit - 1;
#pragma unroll 1
    for (int first = lane_key; first < lane_key + T::Shape::tile_n; first += 16) {
        float done[2][4];
#pragma unroll
        for (int n = 0; n < 2; ++n) {
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                const int key = first + n * 8 + each % 2;
                done[n][each] = s[n][each];
                add_bias(done[n][each], to_float(from[each / 2][(key < last ? key : last) * sight.bias_key]));
            }
        }
        rotate<T>(s, done);
    }
}

// Scores become scale * s + bias where there is a bias.
template <class T>
MZT_DEVICE void scale_scores(float (&s)[T::n_tiles][4], const Sight& sight, int first_key, int lane_key,
                             int first_row) {
    if (!sight.bias) return;
#pragma unroll
    for (int n = 0; n < T::n_tiles; ++n) {
#pragma unroll
        for (int each = 0; each < 4; ++each) s[n][each] *= sight.scale;
    }
    using Element = typename T::Element;
    const bool in_pairs = sight.bias_in_pairs && first_key + T::Shape::tile_n <= sight.key_limit;
    if (sight.bias_is_float) {
        in_pairs ? add_pairs<T, float>(s, sight, lane_key, first_row)
                 : add_singly<T, float>(s, sight, lane_key, first_row);
    } else {
        in_pairs ? add_pairs<T, Element>(s, sight, lane_key, first_row)
                 : add_singly<T, Element>(s, sight, lane_key, first_row);
    }
}

// Hides those of a row's keys whose bits are set, and the next ones' with the next bits.
template <class T>
MZT_DEVICE void hide_by_bits(float (&s)[T::n_tiles][4], int half, int word, uint32_t hidden) {
#pragma unroll
    for (int n = 4 * word; n < 4 * word + 4 && n < T::n_tiles; ++n) {
#pragma unroll
        for (int each = 0; each < 2; ++each) {
            if (hidden >> (n % 4 * 8 + each) & 1) s[n][2 * half + each] = -INFINITY;
        }
    }
}

// Hides a row's keys from a number on.
template <class T>
MZT_DEVICE void hide_from(float (&s)[T::n_tiles][4], int half, int first) {
#pragma unroll
    for (int n = 0; n < T::n_tiles; ++n) {
#pragma unroll
        for (int each = 0; each < 2; ++each) {
            if (n * 8 + each >= first) s[n][2 * half + each] = -INFINITY;
        }
    }
}

// The bits of 32 keys of a tile, from its words for a row; those beyond the tile may be any.
template <class T>
MZT_DEVICE uint32_t bits_of_row(const uint64_t* words, int row, int first_key, int word) {
    if (!words) return ~0u;
    const uint32_t* halves = reinterpret_cast<const uint32_t*>(words + row);
    const uint32_t bits = halves[first_key % kBlockKeys / 32 + word];
    return T::Shape::tile_n < 32 ? bits >> first_key % 32 : bits;
}

// Scores s (16 rows x tile_n keys from `first_key` on, as this thread holds them) become what the softmax takes, -inf
// where the key is not seen. The rows begin `below` those of the block's; `words` are a table's, null if it has none.
template <class T>
MZT_DEVICE void mask_scores(float (&s)[T::n_tiles][4], const Sight& sight, const MaskBytes<T>& bytes, int first_key,
                            int below, const uint64_t* words) {
    const int thread = thread_index_anew();
    const int in_eight = thread % 4 * 2;  // of the keys of each eight, and the next
    const int first_row = first_row_of<T>(sight.first_query, thread) + below;
    if constexpr (T::masked) scale_scores<T>(s, sight, first_key, first_key + in_eight, first_row);
    uint32_t shown[kKeyWords<T>];
    if constexpr (T::masked) {
#pragma unroll
        for (int word = 0; word < kKeyWords<T>; ++word) {
            shown[word] = sight.key_mask ? ballot(bytes.shown[word] != 0) : ~0u;
        }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int edge = first_row + half * 8 + sight.causal_shift + 1;
        const int keys = (edge < sight.key_limit ? edge : sight.key_limit) - first_key;
        if constexpr (T::masked) {
#pragma unroll
            for (int word = 0; word < kKeyWords<T>; ++word) {
                const uint32_t every = lowest_bits(T::Shape::tile_n - word * 32);
                uint32_t seen = shown[word] & lowest_bits(keys - word * 32);
                if constexpr (kFollowsTables<T>) {
                    const int row = first_row_of<T>(below, thread) + half * 8;
                    seen &= bits_of_row<T>(words, row, first_key, word);
                }
                const uint32_t hidden = ~seen & every;
                if (hidden) hide_by_bits<T>(s, half, word, hidden >> in_eight);
            }
        } else {
            hide_from<T>(s, half, keys - in_eight);
        }
    }
}

}  // namespace mezzotint
