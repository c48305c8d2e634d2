// What kernels of block-scaled numbers ask of the machine, beyond primitives.h: PTX, or the emulator's model of it.
//
// Compute capability 12.x alone has it, and only code for that family: elsewhere kernels are compiled to nothing.
#pragma once

#include "primitives.h"

#ifdef MEZZOTINT_EMULATOR
#include "../emulator/block_scaled_machine.h"
#else

namespace mezzotint {

#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ == 1200
constexpr bool kHasBlockScales = true;
#define MZT_BLOCK_SCALED_ASM(...) asm(__VA_ARGS__)
#else
constexpr bool kHasBlockScales = false;
#define MZT_BLOCK_SCALED_ASM(...)
#endif

// 4 or 8 bytes from global to shared memory, or as many zeros; part of the group of copy16().
template <int bytes>
MZT_DEVICE void copy_few(uint32_t to, const void* from, bool wanted) {
    const int given = wanted ? bytes : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(bytes), "r"(given) : "memory");
}

MZT_DEVICE void load_shared(uint32_t (&to)[1], uint32_t address) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(to[0]) : "r"(address) : "memory");
}
MZT_DEVICE void load_shared(uint32_t (&to)[2], uint32_t address) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(address) : "memory");
}

// d (16x8, float) += a (16 rows) b (8 columns), both times their scales, which are bytes of registers of some lanes:
// of a's row r, lane 4 (r % 8) + 2 `a_lane` + r / 8; of b's column c, lane 4 c + `b_lane`; either lane is 0 or 1.
//
// MXFP8, 32 deep, `byte` of both registers; NVFP4, 64 deep, whose four bytes are of 16 columns each.
MZT_DEVICE void multiply_mxfp8(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t a_scales,
                               uint32_t b_scales, uint16_t byte, uint16_t a_lane, uint16_t b_lane) {
    MZT_BLOCK_SCALED_ASM(
        "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%12, %13}, {%11}, {%12, %14};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(a_scales), "r"(b_scales), "h"(byte),
          "h"(a_lane), "h"(b_lane));
}
MZT_DEVICE void multiply_nvfp4(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t a_scales,
                               uint32_t b_scales, uint16_t a_lane, uint16_t b_lane) {
    MZT_BLOCK_SCALED_ASM(
        "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%12, %13}, {%11}, {%12, %14};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(a_scales), "r"(b_scales),
          "h"(static_cast<uint16_t>(0)), "h"(a_lane), "h"(b_lane));
}

// E4M3, the nearest, ties to even, at most 448: `first` in the lowest byte, `second` in the next.
MZT_DEVICE uint32_t e4m3_pair(float first, float second) {
    uint16_t pair = 0;
    MZT_BLOCK_SCALED_ASM("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
    return pair;
}

// E2M1, likewise, at most 6: `first` in the high half of the lowest byte, `second` in its low half.
MZT_DEVICE uint32_t e2m1_pair(float first, float second) {
    uint32_t pair = 0;
    MZT_BLOCK_SCALED_ASM(
        "{.reg .b8 pair; cvt.rn.satfinite.e2m1x2.f32 pair, %1, %2; cvt.u32.u8 %0, pair;}"
        : "=r"(pair) : "f"(first), "f"(second));
    return pair;
}

#undef MZT_BLOCK_SCALED_ASM

}  // namespace mezzotint

#endif
