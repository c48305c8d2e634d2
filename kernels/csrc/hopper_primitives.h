// What Hopper's kernels ask of the machine, beyond primitives.h: PTX, or the emulator's model of it. Barriers in shared
// memory, copies of tiles by the hardware (TMA), products of four warps at once (wgmma), registers moved between warps.
//
// Code for sm_90a alone has it: elsewhere kernels are compiled to nothing. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions" has the layouts: fragments of a warp's 16 rows are those of primitives.h.
#pragma once

#include "primitives.h"
#include "tensor_map.h"

namespace mezzotint {

// A matrix in shared memory as products take it. Rows of `row_bytes` are in groups of eight, `eights` bytes apart; what
// goes on beyond a row (of a matrix whose rows are the product's depth) is `beyond` bytes further.
MZT_DEVICE uint64_t matrix_descriptor(uint32_t address, uint32_t beyond, uint32_t eights, uint32_t row_bytes) {
    const uint64_t layout = row_bytes == kWidestRow ? 1 : 2;
    return static_cast<uint64_t>(address >> 4) | static_cast<uint64_t>(beyond >> 4) << 16 |
           static_cast<uint64_t>(eights >> 4) << 32 | layout << 62;
}

}  // namespace mezzotint

#ifdef MEZZOTINT_EMULATOR
#include "../emulator/hopper_machine.h"
#else

namespace mezzotint {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool kHasWideProducts = true;
#define MZT_HOPPER_ASM(...) asm volatile(__VA_ARGS__)
#else
constexpr bool kHasWideProducts = false;
#define MZT_HOPPER_ASM(...)
#endif

// The same number in all lanes, and known to be: that of the first.
MZT_DEVICE int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

// ---- barriers of 8 bytes in shared memory: a phase ends when so many have arrived, and all bytes that they announced

MZT_DEVICE void prepare_barrier(uint32_t barrier, uint32_t arrivals) {
    MZT_HOPPER_ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// What was prepared is known to the units that copy; before a barrier of all threads.
MZT_DEVICE void publish_barriers() {
    MZT_HOPPER_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
    MZT_HOPPER_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}
MZT_DEVICE void arrive(uint32_t barrier) {
    MZT_HOPPER_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
MZT_DEVICE void arrive_and_announce(uint32_t barrier, uint32_t bytes) {
    MZT_HOPPER_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Until the phase of that parity has ended: the first has 0; the one before it, which has ended, 1.
MZT_DEVICE void wait_phase(uint32_t barrier, uint32_t parity) {
    uint32_t ended = !kHasWideProducts;
    while (!ended) {
        MZT_HOPPER_ASM(
            "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p; }"
            : "=r"(ended)
            : "r"(barrier), "r"(parity)
            : "memory");
    }
}

// ---- barriers of some warps, by number; 0 is that of all threads

MZT_DEVICE void wait_turn(int number, int threads) {
    MZT_HOPPER_ASM("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
MZT_DEVICE void give_turn(int number, int threads) {
    MZT_HOPPER_ASM("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// ---- copies

// The box at these coordinates (column, row, head, batch) to shared memory, zeros where the tensor ends; its bytes
// arrive at the barrier.
MZT_DEVICE void copy_box(uint32_t to, const TensorMap* map, uint32_t barrier, int column, int row, int head, int batch) {
    MZT_HOPPER_ASM(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
        "[%6];" ::"r"(to),
        "l"(map), "r"(column), "r"(row), "r"(head), "r"(batch), "r"(barrier)
        : "memory");
}

// ---- registers, which a group of four warps gives back or takes; multiples of 8 for each thread

template <int registers>
MZT_DEVICE void keep_registers() {
    MZT_HOPPER_ASM("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
MZT_DEVICE void take_registers() {
    MZT_HOPPER_ASM("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// ---- products of four warps: d (64xn, float; 16 rows of a warp) += a (64x16) b (16xn)

// Registers written so far are there for the products that follow.
MZT_DEVICE void begin_products() { MZT_HOPPER_ASM("wgmma.fence.sync.aligned;" ::: "memory"); }
// Products begun since the last commit are a group.
MZT_DEVICE void commit_products() { MZT_HOPPER_ASM("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// All but the newest `pending` groups are done.
template <int pending>
MZT_DEVICE void wait_products() {
    MZT_HOPPER_ASM("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
// Nothing is done with these registers before what stands above, nor after what stands below.
template <int count>
MZT_DEVICE void hold(float (&d)[count][4]) {
#pragma unroll
    for (int n = 0; n < count; ++n) {
        asm volatile("" : "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])::"memory");
    }
}

// a and b in shared memory, rows of both along the product's depth; `add`: to what d was, else to 0.
template <typename Element, int n>
struct SharedProduct;
// a in registers; rows of b, in shared memory, along n.
template <typename Element, int n>
struct RegisterProduct;

#define MZT_WORDS1 "%0, %1, %2, %3, %4, %5, %6, %7"
#define MZT_WORDS2 MZT_WORDS1 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define MZT_WORDS3 MZT_WORDS2 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define MZT_WORDS4 MZT_WORDS3 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define MZT_WORDS5 MZT_WORDS4 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define MZT_WORDS6 MZT_WORDS5 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define MZT_WORDS7 MZT_WORDS6 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define MZT_WORDS8 MZT_WORDS7 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define MZT_WORDS9 MZT_WORDS8 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define MZT_WORDS10 MZT_WORDS9 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define MZT_WORDS11 MZT_WORDS10 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define MZT_WORDS12 MZT_WORDS11 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define MZT_WORDS13 MZT_WORDS12 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define MZT_WORDS14 MZT_WORDS13 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define MZT_WORDS15 MZT_WORDS14 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define MZT_WORDS16 MZT_WORDS15 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define MZT_SUMS(i) \
    "+f"(d[2 * i][0]), "+f"(d[2 * i][1]), "+f"(d[2 * i][2]), "+f"(d[2 * i][3]), "+f"(d[2 * i + 1][0]), \
        "+f"(d[2 * i + 1][1]), "+f"(d[2 * i + 1][2]), "+f"(d[2 * i + 1][3])
#define MZT_SUMS1 MZT_SUMS(0)
#define MZT_SUMS2 MZT_SUMS1, MZT_SUMS(1)
#define MZT_SUMS3 MZT_SUMS2, MZT_SUMS(2)
#define MZT_SUMS4 MZT_SUMS3, MZT_SUMS(3)
#define MZT_SUMS5 MZT_SUMS4, MZT_SUMS(4)
#define MZT_SUMS6 MZT_SUMS5, MZT_SUMS(5)
#define MZT_SUMS7 MZT_SUMS6, MZT_SUMS(6)
#define MZT_SUMS8 MZT_SUMS7, MZT_SUMS(7)
#define MZT_SUMS9 MZT_SUMS8, MZT_SUMS(8)
#define MZT_SUMS10 MZT_SUMS9, MZT_SUMS(9)
#define MZT_SUMS11 MZT_SUMS10, MZT_SUMS(10)
#define MZT_SUMS12 MZT_SUMS11, MZT_SUMS(11)
#define MZT_SUMS13 MZT_SUMS12, MZT_SUMS(12)
#define MZT_SUMS14 MZT_SUMS13, MZT_SUMS(13)
#define MZT_SUMS15 MZT_SUMS14, MZT_SUMS(14)
#define MZT_SUMS16 MZT_SUMS15, MZT_SUMS(15)

#define MZT_SHARED_PRODUCT(Element, name, n, sixteenths, a, b, added)                                              \
    template <>                                                                                                    \
    struct SharedProduct<Element, n> {                                                                             \
        MZT_DEVICE static void begin(float (&d)[n / 8][4], uint64_t left, uint64_t right, bool add) {              \
            MZT_HOPPER_ASM("{\n.reg .pred p;\nsetp.ne.b32 p, " added ", 0;\n"                                      \
                           "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." name "." name                         \
                           " {" MZT_WORDS##sixteenths "}, " a ", " b ", p, 1, 1, 0, 0; }"                         \
                           : MZT_SUMS##sixteenths                                                                  \
                           : "l"(left), "l"(right), "r"(static_cast<int>(add)));                                   \
        }                                                                                                          \
    };

#define MZT_REGISTER_PRODUCT(Element, name, n, sixteenths, a0, a1, a2, a3, b)                                      \
    template <>                                                                                                    \
    struct RegisterProduct<Element, n> {                                                                           \
        MZT_DEVICE static void begin(float (&d)[n / 8][4], const uint32_t (&left)[4], uint64_t right) {            \
            MZT_HOPPER_ASM("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." name "." name                         \
                           " {" MZT_WORDS##sixteenths "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " b ", 1, 1, 1, 1;"    \
                           : MZT_SUMS##sixteenths                                                                  \
                           : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));                  \
        }                                                                                                          \
    };

MZT_SHARED_PRODUCT(float16, "f16", 80, 5, "%40", "%41", "%42")
MZT_SHARED_PRODUCT(bfloat16, "bf16", 80, 5, "%40", "%41", "%42")
MZT_SHARED_PRODUCT(float16, "f16", 112, 7, "%56", "%57", "%58")
MZT_SHARED_PRODUCT(bfloat16, "bf16", 112, 7, "%56", "%57", "%58")
MZT_SHARED_PRODUCT(float16, "f16", 128, 8, "%64", "%65", "%66")
MZT_SHARED_PRODUCT(bfloat16, "bf16", 128, 8, "%64", "%65", "%66")
MZT_SHARED_PRODUCT(float16, "f16", 176, 11, "%88", "%89", "%90")
MZT_SHARED_PRODUCT(bfloat16, "bf16", 176, 11, "%88", "%89", "%90")
MZT_REGISTER_PRODUCT(float16, "f16", 64, 4, "%32", "%33", "%34", "%35", "%36")
MZT_REGISTER_PRODUCT(bfloat16, "bf16", 64, 4, "%32", "%33", "%34", "%35", "%36")
MZT_REGISTER_PRODUCT(float16, "f16", 96, 6, "%48", "%49", "%50", "%51", "%52")
MZT_REGISTER_PRODUCT(bfloat16, "bf16", 96, 6, "%48", "%49", "%50", "%51", "%52")
MZT_REGISTER_PRODUCT(float16, "f16", 128, 8, "%64", "%65", "%66", "%67", "%68")
MZT_REGISTER_PRODUCT(bfloat16, "bf16", 128, 8, "%64", "%65", "%66", "%67", "%68")
MZT_REGISTER_PRODUCT(float16, "f16", 192, 12, "%96", "%97", "%98", "%99", "%100")
MZT_REGISTER_PRODUCT(bfloat16, "bf16", 192, 12, "%96", "%97", "%98", "%99", "%100")
MZT_REGISTER_PRODUCT(float16, "f16", 256, 16, "%128", "%129", "%130", "%131", "%132")
MZT_REGISTER_PRODUCT(bfloat16, "bf16", 256, 16, "%128", "%129", "%130", "%131", "%132")

}  // namespace mezzotint

#endif
