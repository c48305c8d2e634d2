// Rows of the output in stores of 16 bytes: of the four lanes that share a row, two columns of each eight in each, every
// lane gets all of one eight. A store of two columns would write half of a sector of memory.
#pragma once

#include "../primitives.h"

namespace mezzotint {

// Word j of lane i becomes word i of lane j, within each four lanes.
MZT_DEVICE void exchange_words(uint32_t (&words)[4], int lane) {
#pragma unroll
    for (int apart = 1; apart < 4; apart *= 2) {
        const bool odd = lane & apart;
#pragma unroll
        for (int each = 0; each < 4; ++each) {
            if (each & apart) continue;
            const uint32_t received = shuffle_xor(odd ? words[each] : words[each + apart], apart);
            words[each] = odd ? received : words[each];
            words[each + apart] = odd ? words[each + apart] : received;
        }
    }
}

// Columns `eights` * 8 of a row at `to`, if it is wanted; `word(o)` has this lane's two of the oth eight. All lanes of
// the warp must come here.
template <int eights, typename Element, class Word>
MZT_DEVICE void store_row(Element* to, bool wanted, int lane, const Word& word) {
#pragma unroll
    for (int o = 0; o + 3 < eights; o += 4) {
        Chunk chunk{{word(o), word(o + 1), word(o + 2), word(o + 3)}};
        exchange_words(chunk.words, lane);
        if (wanted) *reinterpret_cast<Chunk*>(to + (o + lane % 4) * 8) = chunk;
    }
#pragma unroll
    for (int o = eights / 4 * 4; o < eights; ++o) {
        if (wanted) *reinterpret_cast<uint32_t*>(to + o * 8 + lane % 4 * 2) = word(o);
    }
}

}  // namespace mezzotint
