// 16-bit floating point numbers as a processor without them has them: conversions that round to nearest, ties to even.
#pragma once

#include <cstdint>
#include <cstring>

namespace mezzotint {

struct float16 {
    uint16_t bits;
};
struct bfloat16 {
    uint16_t bits;
};

inline uint32_t bits_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return bits;
}
inline float float_of(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
}

inline float to_float(float x) { return x; }
inline float to_float(bfloat16 x) { return float_of(static_cast<uint32_t>(x.bits) << 16); }
inline float to_float(float16 x) {
    const uint32_t sign = (x.bits & 0x8000u) << 16, exponent = (x.bits >> 10) & 31, mantissa = x.bits & 1023;
    if (exponent == 31) return float_of(sign | 0x7f800000u | (mantissa << 13));
    if (exponent > 0) return float_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
    const float small = static_cast<float>(mantissa) * (1.0f / 16777216.0f);  // 2^-24
    return sign ? -small : small;
}

inline bfloat16 to_bfloat16(float x) {
    const uint32_t bits = bits_of(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((bits >> 16) | 64)};
    return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16)};
}

inline float16 to_float16(float x) {
    const uint32_t bits = bits_of(x), sign = (bits >> 16) & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};
    if (size >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // 65520 and above
    if (size < 0x38800000u) {  // below 2^-14: the float addition of 0.5 rounds to multiples of 2^-24
        const uint32_t rounded = bits_of(float_of(size) + 0.5f) - bits_of(0.5f);
        return {static_cast<uint16_t>(sign | rounded)};
    }
    return {static_cast<uint16_t>(sign | ((size + 0xfffu + ((size >> 13) & 1) - 0x38000000u) >> 13))};
}

// Floats of 8 bits: 4 of exponent and 3 of mantissa, no infinity, and NaN where all of them are set (e4m3).
inline float e4m3_to_float(uint8_t bits) {
    const int exponent = bits >> 3 & 15, mantissa = bits & 7;
    if (exponent == 15 && mantissa == 7) return float_of(0x7fc00000u);
    const float size = exponent ? static_cast<float>(8 + mantissa) * float_of(static_cast<uint32_t>(exponent + 117) << 23)
                                : static_cast<float>(mantissa) * (1.0f / 512);
    return bits & 128 ? -size : size;
}

// At most +-448, of infinity, too.
inline uint8_t to_e4m3(float x) {
    const uint32_t bits = bits_of(x), size = bits & 0x7fffffffu;
    const auto sign = static_cast<uint8_t>(bits >> 24 & 128);
    if (size > 0x7f800000u) return 0x7f;
    if (size >= 0x43e00000u) return static_cast<uint8_t>(sign | 0x7e);  // 448
    if (size < 0x3c800000u) {  // below 2^-6: the float addition of 2^14 rounds to multiples of 2^-9
        const uint32_t rounded = bits_of(float_of(size) + 16384.0f) - bits_of(16384.0f);
        return static_cast<uint8_t>(sign | rounded);
    }
    return static_cast<uint8_t>(sign | ((size + 0x7ffffu + (size >> 20 & 1) - 0x3c000000u) >> 20));
}

template <typename T>
T from_float(float x);
template <>
inline float16 from_float<float16>(float x) {
    return to_float16(x);
}
template <>
inline bfloat16 from_float<bfloat16>(float x) {
    return to_bfloat16(x);
}

}  // namespace mezzotint
