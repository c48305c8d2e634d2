// Which of the softmax's weights are dropped: a random byte for each, the same whatever tiles a kernel works in.
//
// 16 queries by 32 keys are a block, for which 32 calls of Philox (Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", 2011) give 16 bytes each. Call c has the queries 2 (c / 8) and the next of each eight, and the keys 2 (c % 4)
// and the next of each eight of half c / 4 % 2 of the block: word q % 2 * 2 + k % 2 of it, byte q / 8 % 2 * 2 + k / 8 % 2.
//
// So a lane of the forward, which has one query of each eight and two keys next to each other, needs half of two calls,
// and so does a lane of the backward, which has it the other way round. The lane 4 away needs the other halves: each
// makes one call, and they exchange two words.
#pragma once

#include "params.h"
#include "traits.h"

namespace mezzotint {

struct RandomWords {
    uint32_t at[4];
};

// Philox4x32 with 7 rounds.
MZT_DEVICE RandomWords philox(RandomWords x, uint64_t seed) {
    uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
#pragma unroll
    for (int round = 0; round < 7; ++round) {
        const uint64_t first = static_cast<uint64_t>(0xD2511F53u) * x.at[0];
        const uint64_t second = static_cast<uint64_t>(0xCD9E8D57u) * x.at[2];
        x = {{static_cast<uint32_t>(second >> 32) ^ x.at[1] ^ key[0], static_cast<uint32_t>(second),
              static_cast<uint32_t>(first >> 32) ^ x.at[3] ^ key[1], static_cast<uint32_t>(first)}};
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return x;
}

// The random numbers of one head.
struct HeadDropout {
    uint64_t seed, counter;
    uint32_t kept;

    MZT_DEVICE HeadDropout(const Dropout& dropout, int64_t head)
        : seed(dropout.seed), counter(dropout.offset + 32 * static_cast<uint64_t>(head)), kept(dropout.kept) {}

    MZT_DEVICE RandomWords call(int number, int query_block, int key_block) const {
        const uint64_t own = counter + static_cast<uint64_t>(number);
        return philox({{static_cast<uint32_t>(own), static_cast<uint32_t>(own >> 32),
                        static_cast<uint32_t>(query_block), static_cast<uint32_t>(key_block)}},
                      seed);
    }
    MZT_DEVICE bool drops(uint32_t word, int byte) const { return (word >> (8 * byte) & 255u) >= kept; }
};

// Words of two calls of which this lane made number `odd`: two of its own, and two that the lane 4 away keeps for it.
MZT_DEVICE void exchange_words(uint32_t (&to)[2][2], const uint32_t (&own)[2], const uint32_t (&other)[2], bool odd) {
#pragma unroll
    for (int each = 0; each < 2; ++each) {
        const uint32_t received = shuffle_xor(other[each], 4);
        to[0][each] = odd ? received : own[each];
        to[1][each] = odd ? own[each] : received;
    }
}

// The forward's: weights of 16 queries, rows, are dropped in place; both begin at multiples of 16 and 32.
template <class T>
MZT_DEVICE void drop_weights(float (&s)[T::n_tiles][4], const HeadDropout& dropout, int first_query, int first_key) {
    static_assert(T::n_tiles % 4 == 0, "keys are dropped in blocks of 32");
    const int lane = thread_index() % 32;
    const bool odd = lane / 4 % 2 != 0;
#pragma unroll
    for (int block = 0; block < T::n_tiles / 4; ++block) {
        const RandomWords made = dropout.call(lane, first_query / 16, first_key / 32 + block);
        const uint32_t own[2] = {odd ? made.at[2] : made.at[0], odd ? made.at[3] : made.at[1]};
        const uint32_t other[2] = {odd ? made.at[0] : made.at[2], odd ? made.at[1] : made.at[3]};
        uint32_t words[2][2];
        exchange_words(words, own, other, odd);
#pragma unroll
        for (int n = 0; n < 4; ++n) {
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                if (dropout.drops(words[n / 2][each % 2], each / 2 * 2 + n % 2)) s[block * 4 + n][each] = 0;
            }
        }
    }
}

// The backward's: of weights of 16 keys, rows, those dropped become negative.
template <class T>
MZT_DEVICE void mark_dropped(float (&s)[T::n_tiles][4], const HeadDropout& dropout, int first_query, int first_key,
                             int lane) {
    static_assert(T::n_tiles % 4 == 0, "two blocks of 16 queries at a time");
    const bool odd = lane / 4 % 2 != 0;
    const int number = lane % 4 * 8 + first_key / 16 % 2 * 4 + lane / 8;
#pragma unroll
    for (int block = 0; block < T::n_tiles / 4; ++block) {
        const RandomWords made = dropout.call(number, first_query / 16 + block * 2 + odd, first_key / 32);
        const uint32_t own[2] = {odd ? made.at[1] : made.at[0], odd ? made.at[3] : made.at[2]};
        const uint32_t other[2] = {odd ? made.at[0] : made.at[1], odd ? made.at[2] : made.at[3]};
        uint32_t words[2][2];
        exchange_words(words, own, other, odd);
#pragma unroll
        for (int n = 0; n < 4; ++n) {
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                float& weight = s[block * 4 + n][each];
                if (dropout.drops(words[n / 2][each % 2], n % 2 * 2 + each / 2)) weight = -weight;
            }
        }
    }
}

}  // namespace mezzotint
