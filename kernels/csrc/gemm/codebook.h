// Weights of 4 bits that are codes: the byte of each is its level in a codebook times the scale of 16 columns, rounded.
#pragma once

#include <math.h>

#include "../primitives.h"

namespace mezzotint::gemm {

constexpr int kCodebookGroup = 16;  // columns that share a scale

// An 8-bit float (E4M3) that is a number: its exponent is 120 less than that of a 32-bit float.
MZT_DEVICE float decode_e4m3(uint32_t byte) {
    const uint32_t bits = (byte & 0x80u) << 24 | (byte & 0x7fu) << 20;
    return float_of(bits) * 1.329227995784916e36f;
}

// The lowest byte is the integer next to level * scale, the even one of two, of -127 to 127.
MZT_DEVICE uint32_t rounded_level(uint32_t level, float scale) {
    const float product = float_of(level) * scale;
    return bits_of(fminf(fmaxf(product, -127.0f), 127.0f) + 12582912.0f);
}

// The bytes of all 16 codes, with this scale.
MZT_DEVICE Chunk levels_of(const Chunk* codebook, uint32_t scale_byte) {
    const float scale = decode_e4m3(scale_byte);
    Chunk levels;
#pragma unroll
    for (int word = 0; word < 4; ++word) {
        const Chunk four = codebook[word];
        uint32_t bytes[4];
#pragma unroll
        for (int each = 0; each < 4; ++each) bytes[each] = rounded_level(four.words[each], scale);
        const uint32_t low = pick_bytes(bytes[0], bytes[1], 0x0040), high = pick_bytes(bytes[2], bytes[3], 0x0040);
        levels.words[word] = pick_bytes(low, high, 0x5410);
    }
    return levels;
}

// The bytes of four codes, the lowest hexadecimal digits: their lower bits pick one of eight levels in each half.
MZT_DEVICE uint32_t look_up_four(const Chunk& levels, uint32_t codes) {
    const uint32_t low = pick_bytes(levels.words[0], levels.words[1], codes & 0x7777u);
    const uint32_t high = pick_bytes(levels.words[2], levels.words[3], codes & 0x7777u);
    return pick_bytes(low, high, 0x3210u + ((codes & 0x8888u) >> 1));
}

// 32 codes of one row, two groups with a byte of `scales` each, to two chunks of bytes.
MZT_DEVICE void look_up_chunk(Chunk (&wide)[2], const Chunk& packed, const Chunk* codebook, uint32_t scales) {
#pragma unroll
    for (int group = 0; group < 2; ++group) {
        const Chunk levels = levels_of(codebook, scales >> (8 * group) & 0xffu);
#pragma unroll
        for (int word = 0; word < 2; ++word) {
            const uint32_t codes = packed.words[2 * group + word];
            wide[group].words[2 * word] = look_up_four(levels, codes);
            wide[group].words[2 * word + 1] = look_up_four(levels, codes >> 16);
        }
    }
}

}  // namespace mezzotint::gemm
