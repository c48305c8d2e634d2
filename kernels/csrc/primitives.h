// What a kernel asks of the machine: the only file with PTX in it. Under MEZZOTINT_EMULATOR the same names are played by
// a model of the machine that runs on a processor (emulator/machine.h), so that one kernel source serves both.
//
// Fragments are those of mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"): lane l holds, of the accumulator,
// row l/4 columns 2(l%4) and 2(l%4)+1 in [0] and [1], row l/4+8 of the same columns in [2] and [3].
#pragma once

#include <stdint.h>

#ifdef MEZZOTINT_EMULATOR
#include "../emulator/machine.h"
#else

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define MZT_DEVICE __device__ __forceinline__

namespace mezzotint {

using float16 = __half;
using bfloat16 = __nv_bfloat16;

// What an architecture has, beyond what all have: the kernels' sources ask these and never the compiler.
struct Turing {
    static constexpr bool has_async_copies = false;
    static constexpr bool has_int8_products = true;
    static constexpr bool has_int4_products = true;
    static constexpr bool has_fp8_products = false;
    static constexpr int mma_k = 8;
};
struct Ampere {
    static constexpr bool has_async_copies = true;
    static constexpr bool has_int8_products = true;
    static constexpr bool has_int4_products = true;
    static constexpr bool has_fp8_products = false;
    static constexpr int mma_k = 16;
};
// From here on, what `mma.sync` does with 4-bit integers is emulated, by some 180 instructions each.
struct Hopper : Ampere {
    static constexpr bool has_int4_products = false;
};
// What `mma.sync` multiplies as floats of 8 bits: on sm_90 and sm_100 they become numbers of 16 bits first.
struct Ada : Ampere {
    static constexpr bool has_fp8_products = true;
};
// 10.x: 16-bit products by `tcgen05`, which torch uses, are twice as fast as 8-bit ones by `mma.sync` at best, and on 10.3
// 16 times; so kernels for those are compiled to nothing (multiplies_integers in gemm.h).
struct DatacenterBlackwell : Hopper {
    static constexpr bool has_int8_products = false;
};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200
using ThisArchitecture = DatacenterBlackwell;
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
using ThisArchitecture = Ampere;
#else
using ThisArchitecture = Turing;
#endif
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 900 || __CUDA_ARCH__ >= 1200)
using Int4Architecture = Hopper;
#else
using Int4Architecture = ThisArchitecture;
#endif
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
using Fp8Architecture = Ada;
#else
using Fp8Architecture = ThisArchitecture;
#endif

MZT_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
MZT_DEVICE uint32_t block_index() { return blockIdx.x; }

// The same, asked for anew: nothing of it is kept in registers through a loop.
MZT_DEVICE int thread_index_anew() {
    int index;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
    return index;
}
MZT_DEVICE uint32_t block_index_anew() {
    uint32_t index;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
    return index;
}

MZT_DEVICE void barrier() { __syncthreads(); }

MZT_DEVICE float shuffle_xor(float value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
MZT_DEVICE uint32_t shuffle_xor(uint32_t value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
// A bit for each lane of the warp.
MZT_DEVICE uint32_t ballot(bool value) { return __ballot_sync(0xffffffffu, value); }

MZT_DEVICE float multiply_add_toward_zero(float a, float b, float c) { return __fmaf_rz(a, b, c); }

// 2^x; 0 for -inf.
MZT_DEVICE float exp2_approximate(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
MZT_DEVICE float log2_approximate(float x) { return __log2f(x); }

// 1/x; 0 for infinity.
MZT_DEVICE float reciprocal_approximate(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

MZT_DEVICE uint32_t bits_of(float x) { return __float_as_uint(x); }
MZT_DEVICE float float_of(uint32_t bits) { return __uint_as_float(bits); }

// The larger of two that are not negative; NaN where one of them is.
MZT_DEVICE float larger(float a, float b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
#else
    return __uint_as_float(max(__float_as_uint(a), __float_as_uint(b)));
#endif
}

// ---- numbers

MZT_DEVICE float to_float(float16 x) { return __half2float(x); }
MZT_DEVICE float to_float(bfloat16 x) { return __bfloat162float(x); }
MZT_DEVICE float to_float(float x) { return x; }

template <typename T>
MZT_DEVICE uint32_t pack(float low, float high);
template <>
MZT_DEVICE uint32_t pack<float16>(float low, float high) {
    const __half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&both);
}
template <>
MZT_DEVICE uint32_t pack<bfloat16>(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&both);
}

// The two numbers of a register.
template <typename T>
MZT_DEVICE float low_number(uint32_t pair);
template <typename T>
MZT_DEVICE float high_number(uint32_t pair);
template <>
MZT_DEVICE float low_number<float16>(uint32_t pair) {
    return __low2float(*reinterpret_cast<const __half2*>(&pair));
}
template <>
MZT_DEVICE float high_number<float16>(uint32_t pair) {
    return __high2float(*reinterpret_cast<const __half2*>(&pair));
}
template <>
MZT_DEVICE float low_number<bfloat16>(uint32_t pair) {
    return __uint_as_float(pair << 16);
}
template <>
MZT_DEVICE float high_number<bfloat16>(uint32_t pair) {
    return __uint_as_float(pair & 0xffff0000u);
}

// Four floats of 8 bits (e4m3), the first in the lowest byte: the nearest, the even one of two, at most +-448; NaN stays.
MZT_DEVICE uint32_t pack_e4m3(float a, float b, float c, float d) {
    uint16_t low = 0, high = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(low) : "f"(b), "f"(a));
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(high) : "f"(d), "f"(c));
#endif
    return static_cast<uint32_t>(high) << 16 | low;
}

MZT_DEVICE float low_half(uint32_t pair) { return __low2float(*reinterpret_cast<const __half2*>(&pair)); }
MZT_DEVICE float high_half(uint32_t pair) { return __high2float(*reinterpret_cast<const __half2*>(&pair)); }

// ---- shared memory; addresses are 32-bit and 16 bytes apart

MZT_DEVICE uint32_t shared_address(const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// 16 bytes from global to shared memory, or 16 zero bytes; there only after wait_copies and a barrier.
template <class Architecture>
MZT_DEVICE void copy16(uint32_t to, const void* from, bool wanted) {
    if constexpr (Architecture::has_async_copies) {
        const int bytes = wanted ? 16 : 0;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    } else {
        uint4 value = make_uint4(0, 0, 0, 0);
        if (wanted) value = *static_cast<const uint4*>(from);
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(value.x), "r"(value.y), "r"(value.z),
                     "r"(value.w)
                     : "memory");
    }
}

// 16 bytes that a thread moves at once; in global memory they are read and written by a pointer to them.
struct alignas(16) Chunk {
    uint32_t words[4];
};

MZT_DEVICE Chunk load_shared16(uint32_t address) {
    Chunk value;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.words[0]), "=r"(value.words[1]), "=r"(value.words[2]), "=r"(value.words[3])
                 : "r"(address)
                 : "memory");
    return value;
}
MZT_DEVICE void store_shared16(uint32_t address, const Chunk& value) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.words[0]), "r"(value.words[1]),
                 "r"(value.words[2]), "r"(value.words[3])
                 : "memory");
}
MZT_DEVICE uint32_t load_shared4(uint32_t address) {
    uint32_t value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

// Four bytes of eight (0 to 3 of `low`, 4 to 7 of `high`), chosen by the hexadecimal digits, the lowest first.
MZT_DEVICE uint32_t pick_bytes(uint32_t low, uint32_t high, uint32_t digits) { return __byte_perm(low, high, digits); }

// The sum of four bytes, and of another number.
MZT_DEVICE uint32_t add_bytes(uint32_t four, uint32_t sum) { return __dp4a(four, 0x01010101u, sum); }

// What was copied since the last commit is a group; an empty group counts.
template <class Architecture>
MZT_DEVICE void commit_copies() {
    if constexpr (Architecture::has_async_copies) asm volatile("cp.async.commit_group;" ::: "memory");
}

// All but the newest `pending` groups of this thread are there.
template <class Architecture, int pending>
MZT_DEVICE void wait_copies() {
    if constexpr (Architecture::has_async_copies) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Four 8x8 matrices of 16-bit numbers; lane l gives the address of row l%8 of matrix l/8.
MZT_DEVICE void load_matrices(uint32_t (&to)[4], uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

MZT_DEVICE void load_matrices_transposed(uint32_t (&to)[4], uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

// Two matrices; lanes 0 to 15 give the addresses, those of the others are not looked at.
MZT_DEVICE void load_matrices(uint32_t (&to)[2], uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(address)
                 : "memory");
}

MZT_DEVICE void load_matrices_transposed(uint32_t (&to)[2], uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(address)
                 : "memory");
}

// ---- products: d (16x8, float) += a (16xk) b (kx8)

template <typename T>
MZT_DEVICE void multiply_k8(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b);
template <>
MZT_DEVICE void multiply_k8<float16>(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(b));
}
template <>
MZT_DEVICE void multiply_k8<bfloat16>(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(b));
#endif
}

template <typename T>
MZT_DEVICE void multiply_k16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
template <>
MZT_DEVICE void multiply_k16<float16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
template <>
MZT_DEVICE void multiply_k16<bfloat16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// The same with 16-bit sums, two to a register: twice as fast on cards that halve the rate of 32-bit ones.
MZT_DEVICE void multiply_half_k8(uint32_t (&d)[2], uint32_t a0, uint32_t a1, uint32_t b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a0), "r"(a1), "r"(b));
}
MZT_DEVICE void multiply_half_k16(uint32_t (&d)[2], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// 8-bit integers, 32 deep: d (16x8, 32-bit integers) += a (16x32) b (32x8).
MZT_DEVICE void multiply_int8_k32(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
// 16 deep, 8 rows: what Turing has.
MZT_DEVICE void multiply_int8_k16(int32_t& d0, int32_t& d1, uint32_t a, uint32_t b) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(d0), "+r"(d1)
        : "r"(a), "r"(b));
}

// 4-bit integers, 64 deep, whose fragments have the bytes of those of 8 bits and 32 deep.
MZT_DEVICE void multiply_int4_k64(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900)
    asm("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
MZT_DEVICE void multiply_int4_k32(int32_t& d0, int32_t& d1, uint32_t a, uint32_t b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 900
    asm("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(d0), "+r"(d1)
        : "r"(a), "r"(b));
#endif
}

// Floats of 8 bits (e4m3), 32 deep, whose fragments have the bytes of those of integers: d (16x8, float) += a b. Of the
// sum some 14 bits are kept, counted from its largest term: what becomes of many of them is added elsewhere.
MZT_DEVICE void multiply_fp8_k32(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// The same with 16-bit sums, two to a register: twice as fast on cards that halve the rate of 32-bit ones.
MZT_DEVICE void multiply_fp8_half_k32(uint32_t (&d)[2], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    asm("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// 8-bit integers, 32 and 16 deep, with a of bytes without a sign.
MZT_DEVICE void multiply_bytes_k32(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
MZT_DEVICE void multiply_bytes_k16(int32_t& d0, int32_t& d1, uint32_t a, uint32_t b) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(d0), "+r"(d1)
        : "r"(a), "r"(b));
}

}  // namespace mezzotint

#endif

namespace mezzotint {

// k of 16 in the steps that the architecture has; Turing multiplies eight deep.
template <class Architecture, typename T>
MZT_DEVICE void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (Architecture::mma_k == 16) {
        multiply_k16<T>(d, a, b0, b1);
    } else {
        multiply_k8<T>(d, a[0], a[1], b0);
        multiply_k8<T>(d, a[2], a[3], b1);
    }
}

template <class Architecture>
MZT_DEVICE void multiply_half(uint32_t (&d)[2], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (Architecture::mma_k == 16) {
        multiply_half_k16(d, a, b0, b1);
    } else {
        multiply_half_k8(d, a[0], a[1], b0);
        multiply_half_k8(d, a[2], a[3], b1);
    }
}

template <class Architecture>
MZT_DEVICE void multiply_int8(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (Architecture::mma_k == 16) {
        multiply_int8_k32(d, a, b0, b1);
    } else {
        multiply_int8_k16(d[0], d[1], a[0], b0);
        multiply_int8_k16(d[2], d[3], a[1], b0);
        multiply_int8_k16(d[0], d[1], a[2], b1);
        multiply_int8_k16(d[2], d[3], a[3], b1);
    }
}

// 16 times the numbers of 4 bits in even and in odd columns, as bytes.
MZT_DEVICE uint32_t even_sixteenfold(uint32_t eight) { return eight << 4 & 0xf0f0f0f0u; }
MZT_DEVICE uint32_t odd_sixteenfold(uint32_t eight) { return eight & 0xf0f0f0f0u; }

// Where there are no products of 4 bits, d becomes 256 times the sum: even columns are multiplied with even ones, and odd
// with odd ones, in bytes of 16 times the number.
template <class Architecture>
MZT_DEVICE void multiply_int4(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (!Architecture::has_int4_products) {
        uint32_t even[4], odd[4];
#pragma unroll
        for (int each = 0; each < 4; ++each) {
            even[each] = even_sixteenfold(a[each]);
            odd[each] = odd_sixteenfold(a[each]);
        }
        multiply_int8_k32(d, even, even_sixteenfold(b0), even_sixteenfold(b1));
        multiply_int8_k32(d, odd, odd_sixteenfold(b0), odd_sixteenfold(b1));
    } else if constexpr (Architecture::mma_k == 16) {
        multiply_int4_k64(d, a, b0, b1);
    } else {
        multiply_int4_k32(d[0], d[1], a[0], b0);
        multiply_int4_k32(d[2], d[3], a[1], b0);
        multiply_int4_k32(d[0], d[1], a[2], b1);
        multiply_int4_k32(d[2], d[3], a[3], b1);
    }
}

template <class Architecture>
MZT_DEVICE void multiply_bytes(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (Architecture::mma_k == 16) {
        multiply_bytes_k32(d, a, b0, b1);
    } else {
        multiply_bytes_k16(d[0], d[1], a[0], b0);
        multiply_bytes_k16(d[2], d[3], a[1], b0);
        multiply_bytes_k16(d[0], d[1], a[2], b1);
        multiply_bytes_k16(d[2], d[3], a[3], b1);
    }
}

}  // namespace mezzotint
