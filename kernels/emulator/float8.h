// Products and conversions of floats of 8 bits (e4m3) as tensor cores have them; part of machine.h.
#pragma once

#include <algorithm>

namespace mezzotint {

namespace emulator {

// The place of the last bit that is kept of a sum, behind the highest of its largest term: as few as on any card.
constexpr int kFp8SumBits = 13;

// The sum of the terms, each cut off behind the last bit that the largest leaves.
inline float cut_sum(const double* terms, int count) {
    double largest = 0, sum = 0;
    for (int each = 0; each < count; ++each) {
        if (!std::isfinite(terms[each])) return static_cast<float>(NAN);
        largest = std::max(largest, std::abs(terms[each]));
    }
    if (largest == 0) return 0;
    const double unit = std::ldexp(1.0, std::ilogb(largest) - kFp8SumBits);
    for (int each = 0; each < count; ++each) sum += std::trunc(terms[each] / unit) * unit;
    return static_cast<float>(sum);
}

inline void act_fp8_product(Block& block, void* const (&given)[kLanes]) {
    constexpr int k = 32;
    float a[16][k], b[8][k];
    for (int lane = 0; lane < kLanes; ++lane) {
        const Product& mine = *static_cast<const Product*>(given[lane]);
        for (int deep = 0; deep < k; deep += 16) {
            for (int byte = 0; byte < 4; ++byte) {
                const int column = deep + lane % 4 * 4 + byte, part = deep / 16;
                a[lane / 4][column] = e4m3_to_float(static_cast<uint8_t>(mine.a[2 * part] >> (8 * byte)));
                a[lane / 4 + 8][column] = e4m3_to_float(static_cast<uint8_t>(mine.a[2 * part + 1] >> (8 * byte)));
                b[lane / 4][column] = e4m3_to_float(static_cast<uint8_t>(mine.b[part] >> (8 * byte)));
            }
        }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        const Product& mine = *static_cast<const Product*>(given[lane]);
        for (int each = 0; each < 4; ++each) {
            const int row = lane / 4 + each / 2 * 8, column = lane % 4 * 2 + each % 2;
            double terms[k + 1] = {mine.d[each]};
            for (int deep = 0; deep < k; ++deep) terms[deep + 1] = static_cast<double>(a[row][deep]) * b[column][deep];
            mine.d[each] = cut_sum(terms, k + 1);
        }
    }
    ++block.counts.products;
}

}  // namespace emulator

inline void multiply_fp8_k32(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    static const char purpose = 0;
    emulator::Product mine{d, {a[0], a[1], a[2], a[3]}, {b0, b1}};
    emulator::Block::current().meet(&purpose, &mine, &emulator::act_fp8_product);
}

inline void multiply_fp8_half_k32(uint32_t (&d)[2], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    float sums[4] = {low_half(d[0]), high_half(d[0]), low_half(d[1]), high_half(d[1])};
    multiply_fp8_k32(sums, a, b0, b1);
    d[0] = pack<float16>(sums[0], sums[1]);
    d[1] = pack<float16>(sums[2], sums[3]);
}

inline uint32_t pack_e4m3(float a, float b, float c, float d) {
    return static_cast<uint32_t>(to_e4m3(a)) | static_cast<uint32_t>(to_e4m3(b)) << 8 |
           static_cast<uint32_t>(to_e4m3(c)) << 16 | static_cast<uint32_t>(to_e4m3(d)) << 24;
}

}  // namespace mezzotint
