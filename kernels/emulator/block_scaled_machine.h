// csrc/block_scaled_primitives.h as a processor plays it: 8- and 4-bit floating-point numbers and their products.
#pragma once

#include <cmath>

#include "machine.h"

namespace mezzotint {

constexpr bool kHasBlockScales = true;

namespace emulator {

// The value of a positive code with `fraction` bits of fraction, whose exponent is biased by `bias`.
inline float small_float(uint32_t code, int fraction, int bias) {
    const int exponent = static_cast<int>(code >> fraction), part = static_cast<int>(code & ((1u << fraction) - 1));
    if (exponent == 0) return std::ldexp(static_cast<float>(part), 1 - bias - fraction);
    return std::ldexp(static_cast<float>(part + (1 << fraction)), exponent - bias - fraction);
}

inline float e4m3_value(uint32_t byte) {
    if ((byte & 127) == 127) return NAN;
    const float value = small_float(byte & 127, 3, 7);
    return byte & 128 ? -value : value;
}
inline float e2m1_value(uint32_t code) {
    const float value = small_float(code & 7, 1, 1);
    return code & 8 ? -value : value;
}
inline float e8m0_value(uint32_t byte) { return byte == 255 ? NAN : std::ldexp(1.0f, static_cast<int>(byte) - 127); }

// The code next to |x|, the even one of two, at most `largest`.
inline uint32_t small_code(float x, int fraction, int bias, uint32_t largest) {
    const float size = std::fabs(x);
    if (size >= small_float(largest, fraction, bias)) return largest;
    uint32_t code = 0;
    while (small_float(code + 1, fraction, bias) <= size) ++code;
    const double low = small_float(code, fraction, bias), high = small_float(code + 1, fraction, bias);
    const double above = size - low, below = high - size;
    return above < below || (above == below && code % 2 == 0) ? code : code + 1;
}

inline uint32_t e4m3_code(float x) {
    if (std::isnan(x)) return 127;
    return small_code(x, 3, 7, 126) | (std::signbit(x) ? 128u : 0u);
}
inline uint32_t e2m1_code(float x) {
    if (std::isnan(x)) return 7;
    return small_code(x, 1, 1, 7) | (std::signbit(x) ? 8u : 0u);
}

struct ScaledProduct {
    float* d;
    uint32_t a[4], b[2];
    uint32_t a_scales, b_scales;
    int byte, a_lane, b_lane;
};

// Numbers of `bits` bits, 4 or 8; 64 or 32 deep.
template <int bits>
void act_scaled_product(Block& block, void* const (&given)[kLanes]) {
    constexpr int depth = 256 / bits, held = 32 / bits;
    constexpr uint32_t mask = (1u << bits) - 1;
    const auto of = [&](int lane) -> ScaledProduct& { return *static_cast<ScaledProduct*>(given[lane]); };
    const auto value = [](uint32_t code) { return bits == 4 ? e2m1_value(code) : e4m3_value(code); };
    const auto scale = [&](uint32_t scales, int byte, int deep) {
        return bits == 4 ? e4m3_value(scales >> (deep / 16 * 8) & 127) : e8m0_value(scales >> (8 * byte) & 255);
    };
    double a[16][depth], b[8][depth];
    for (int lane = 0; lane < kLanes; ++lane) {
        const ScaledProduct& mine = of(lane);
        for (int part = 0; part < 2; ++part) {
            for (int each = 0; each < held; ++each) {
                const int deep = (part * 4 + lane % 4) * held + each;
                for (int half = 0; half < 2; ++half) {
                    const ScaledProduct& its = of(lane / 4 * 4 + 2 * mine.a_lane + half);
                    a[lane / 4 + 8 * half][deep] = static_cast<double>(value(mine.a[2 * part + half] >> (bits * each) & mask)) *
                                                   scale(its.a_scales, mine.byte, deep);
                }
                const ScaledProduct& its = of(lane / 4 * 4 + mine.b_lane);
                b[lane / 4][deep] = static_cast<double>(value(mine.b[part] >> (bits * each) & mask)) *
                                    scale(its.b_scales, mine.byte, deep);
            }
        }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int each = 0; each < 4; ++each) {
            double sum = of(lane).d[each];
            for (int deep = 0; deep < depth; ++deep) {
                sum += a[lane / 4 + each / 2 * 8][deep] * b[lane % 4 * 2 + each % 2][deep];
            }
            of(lane).d[each] = static_cast<float>(sum);
        }
    }
    ++block.counts.products;
}

template <int bits>
void scaled_product(ScaledProduct& mine) {
    static const char purpose = 0;
    Block::current().meet(&purpose, &mine, &act_scaled_product<bits>);
}

}  // namespace emulator

template <int bytes>
void copy_few(uint32_t to, const void* from, bool wanted) {
    emulator::Block::current().copy(to, from, wanted, true, bytes);
}

template <int words>
void load_shared(uint32_t (&to)[words], uint32_t address) {
    std::memcpy(to, emulator::Block::current().shared_at(address, 4 * words, 4 * words), 4 * words);
}

inline void multiply_mxfp8(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t a_scales,
                           uint32_t b_scales, uint16_t byte, uint16_t a_lane, uint16_t b_lane) {
    emulator::ScaledProduct mine{d, {a[0], a[1], a[2], a[3]}, {b0, b1}, a_scales, b_scales, byte, a_lane, b_lane};
    emulator::scaled_product<8>(mine);
}
inline void multiply_nvfp4(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t a_scales,
                           uint32_t b_scales, uint16_t a_lane, uint16_t b_lane) {
    emulator::ScaledProduct mine{d, {a[0], a[1], a[2], a[3]}, {b0, b1}, a_scales, b_scales, 0, a_lane, b_lane};
    emulator::scaled_product<4>(mine);
}

inline uint32_t e4m3_pair(float first, float second) {
    return emulator::e4m3_code(first) | emulator::e4m3_code(second) << 8;
}
inline uint32_t e2m1_pair(float first, float second) {
    return emulator::e2m1_code(first) << 4 | emulator::e2m1_code(second);
}

}  // namespace mezzotint
