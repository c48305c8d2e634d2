"""The PTX interpreter: each instruction's result, computed independently, and errors that no kernel may contain."""

import ctypes
import re
from fractions import Fraction

import numpy as np
import pytest
import torch
from ptx.arithmetic import multiplied_and_added
from ptx.conversions import from_bfloat16, to_bfloat16, to_e4m3
from ptx.machine import launch
from ptx.memory import GlobalMemory, MemoryFault
from ptx.products import NUMBERS, SHAPES
from ptx.program import PtxError, kernel_of
from ptx.structs import misread

HEADER = """\
.version 9.0
.target {target}
.address_size 64
.extern .shared .align 16 .b8 _Zboard[];
.visible .entry trial(
	.param .align 8 .b8 trial_param_0[24]
)
.maxntid 64, 1, 1
{{
	.reg .pred %p<9>;
	.reg .b16 %rs<9>;
	.reg .f32 %f<9>;
	.reg .b32 %r<40>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [trial_param_0];  // what is read
	ld.param.u64 %rd2, [trial_param_0+8];  // what is written
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
"""
FIRST_LINE = HEADER.count("\n") + 1  # of the test's own code


class Params(ctypes.Structure):
    _fields_ = (("read", ctypes.c_void_p), ("written", ctypes.c_void_p), ("number", ctypes.c_int32))


def run(body, given=None, *, threads=64, blocks=1, words=1, target="sm_80"):
    """Run a kernel with this body; return the words that the threads write."""
    text = HEADER.format(target=target) + body + "\n\tret;\n\n}\n"
    given = torch.arange(threads * blocks, dtype=torch.int32) if given is None else given
    made = torch.full((threads * blocks * words,), -1, dtype=torch.int32)
    memory = GlobalMemory([given], [made])
    params = Params(given.data_ptr(), made.data_ptr(), 7)
    launch(kernel_of(text, "trial"), memory, params, blocks=blocks, threads=threads, shared_bytes=1024)
    memory.give_back()
    return made.numpy()


def result_of(lines, *, kind="u32"):
    """Return register %r9 or %f9 of the first thread after these lines."""
    register = "%f8" if kind == "f32" else "%r9"
    return run(f"{lines}\nst.global.{kind} [%rd5], {register};")[:1].view(np.float32 if kind == "f32" else np.int32)[0]


def bits(value):
    return f"0f{np.float32(value).view(np.uint32):08x}"


# ---- arithmetic


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("div.s32 %r9, -7, 2;", -3),
        ("rem.s32 %r9, -7, 2;", -1),
        ("div.u32 %r9, -1, 2;", 2**31 - 1),
        ("mul.lo.s32 %r9, 65536, 65537;", 65536),
        ("mul.hi.s32 %r9, 96, 715827883;", 16),
        ("mul.hi.s32 %r9, -1, 5;", -1),
        ("mul.hi.u32 %r9, -1, -1;", -2),
        ("mad.lo.s32 %r9, 3, -4, 5;", -7),
        ("shl.b32 %r9, 1, 32;", 0),
        ("shr.s32 %r9, -8, 40;", -1),
        ("shr.u32 %r9, -1, 28;", 15),
        ("min.s32 %r9, -1, 1;", -1),
        ("max.u32 %r9, -1, 1;", -1),
        ("prmt.b32 %r9, 0x33221100, 0x77665544, 0x1476;", 0x11447766),
        ("setp.ltu.f32 %p1, 0f7fc00000, 0f00000000; selp.b32 %r9, 3, 4, %p1;", 3),
        ("setp.leu.f32 %p1, 0f7fc00000, 0f00000000; selp.b32 %r9, 3, 4, %p1;", 3),
        ("setp.leu.f32 %p1, 0f3f800000, 0f00000000; selp.b32 %r9, 3, 4, %p1;", 4),
        ("setp.lt.f32 %p1, 0f7fc00000, 0f00000000; selp.b32 %r9, 3, 4, %p1;", 4),
        ("mov.u32 %r9, 5; setp.eq.s32 %p1, 1, 2; @%p1 mov.u32 %r9, 6; @!%p1 add.s32 %r9, %r9, 20;", 25),
        ("mov.b32 {%rs1, %rs2}, 0x00020001; mov.b32 %r9, {%rs2, %rs1};", 0x00010002),
        ("mov.pred %p1, -1; selp.b32 %r9, 0x10U, 4, %p1;", 16),
        ("ld.u32 %r9, [%rd1+12];", 3),
        ("cvt.rzi.s32.f32 %r9, 0fc0200000;", -2),
        ("cvt.rni.f32.f32 %f1, 0f40200000; cvt.rzi.s32.f32 %r9, %f1;", 2),
        ("cvt.rn.f16x2.f32 %r9, 0f3f800000, 0f40000000;", 0x3C004000),
        ("cvt.rn.bf16x2.f32 %r9, 0f3f800000, 0f3f808001;", 0x3F803F81),
        ("cvt.rn.satfinite.e4m3x2.f32 %rs1, 0f3f800000, 0fc47a0000; cvt.u32.u16 %r9, %rs1;", 0x38FE),  # 1 and -1000
        ("cvt.rn.satfinite.e4m3x2.f32 %rs1, 0f7fc00000, 0f3b000000; cvt.u32.u16 %r9, %rs1;", 0x7F01),  # NaN and 2^-9
        ("mov.u32 %r2, _Zboard; cvt.u64.u32 %rd6, %r2; cvta.shared.u64 %rd6, %rd6;"
         "cvta.to.shared.u64 %rd6, %rd6; cvt.u32.u64 %r9, %rd6;", 0),
        ("ld.param.s32 %r9, [trial_param_0+16];", 7),
    ],
)  # fmt: skip
def test_integers(line, result):
    assert result_of(line) == result


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("max.f32 %f8, 0f7fc00000, 0f3f800000;", 1),
        ("max.NaN.f32 %f8, 0f7fc00000, 0f3f800000;", float("nan")),
        ("copysign.f32 %f8, 0f80000000, 0f3f800000;", -1),
        (f"ex2.approx.ftz.f32 %f8, {bits(3)};", 8),
        (f"ex2.approx.ftz.f32 %f8, {bits(-130)};", 0),
        (f"ex2.approx.ftz.f32 %f8, {bits(-np.inf)};", 0),
        (f"lg2.approx.f32 %f8, {bits(8)};", 3),
        (f"rcp.approx.ftz.f32 %f8, {bits(np.inf)};", 0),
        (f"rcp.approx.ftz.f32 %f8, {bits(1e-40)};", np.inf),
        (f"rcp.rn.f32 %f8, {bits(4)};", 0.25),
        (f"sqrt.rn.f32 %f8, {bits(9)};", 3),
        (f"div.rn.f32 %f8, {bits(1)}, {bits(3)};", np.float32(1) / np.float32(3)),
        ("cvt.rn.f32.s32 %f8, 16777217;", 16777216),
        ("mov.b16 %rs1, 0x3e00; cvt.f32.f16 %f8, %rs1;", 1.5),
    ],
)
def test_numbers(line, result):
    assert result_of(line, kind="f32") == pytest.approx(result, nan_ok=True)


def test_a_product_and_sum_are_rounded_once():
    lots = np.random.default_rng(0)
    x, y = (lots.standard_normal(500).astype(np.float32) for _ in range(2))
    z = (-(x.astype(np.float64) * y)).astype(np.float32) * lots.choice([1, 1 + 2**-20, 2**28, 2**-28], 500)
    z = z.astype(np.float32)
    for a, b, c, made in zip(x, y, z, multiplied_and_added(x, y, z), strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        near = (np.nextafter(made, np.float32(-np.inf)), made, np.nextafter(made, np.float32(np.inf)))
        assert min(near, key=lambda each: (abs(Fraction(float(each)) - exact), each.view(np.uint32) & 1)) == made


def test_bfloat16_is_rounded_as_torch_does():
    numbers = torch.randn(1000) * 2.0 ** torch.randint(-30, 30, (1000,))
    rounded = from_bfloat16(to_bfloat16(numbers.numpy()))
    assert np.array_equal(rounded, numbers.bfloat16().float().numpy())


# ---- threads


def test_threads_go_their_own_ways_and_meet_again():
    body = """
	mov.u32 %r2, 0;
	and.b32 %r3, %r1, 3;
$L__BB0_1:
	setp.ge.s32 %p1, %r2, %r3;
	@%p1 bra $L__BB0_2;
	add.s32 %r2, %r2, 1;
	bra.uni $L__BB0_1;
$L__BB0_2:
	bar.sync 0;
	shfl.sync.bfly.b32 %r4|%p2, %r2, 1, 31, -1;
	st.global.u32 [%rd5], %r4;"""
    assert np.array_equal(run(body), (np.arange(64) ^ 1) % 4)


def test_threads_wait_for_the_rest_of_their_warp_wherever_it_is():
    body = """
	setp.ge.u32 %p1, %r1, 40;
	mov.u32 %r2, %r1;
	@%p1 bra $L__BB0_2;
$L__BB0_1:
	shfl.sync.bfly.b32 %r4|%p2, %r2, 31, 31, -1;
	st.global.u32 [%rd5], %r4;
	bra.uni $L__BB0_3;
$L__BB0_2:
	add.s32 %r2, %r2, 100;
	bra.uni $L__BB0_1;
$L__BB0_3:"""
    threads = np.arange(64)
    assert np.array_equal(run(body), (threads + 100 * (threads >= 40)).reshape(2, 32)[:, ::-1].ravel())


def test_blocks_have_memory_of_their_own():
    body = """
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, _Zboard;
	setp.eq.s32 %p1, %r1, 0;
	@%p1 st.shared.u32 [%r3+8], %r2;
	bar.sync 0;
	ld.shared.u32 %r4, [%r3+8];
	mad.lo.s32 %r5, %r2, 64, %r1;
	mul.wide.u32 %rd6, %r5, 4;
	add.s64 %rd6, %rd2, %rd6;
	st.global.u32 [%rd6], %r4;"""
    assert np.array_equal(run(body, blocks=3), np.repeat([0, 1, 2], 64))


COPY = """
	mov.u32 %r2, _Zboard;
	shl.b32 %r3, %r1, 4;
	add.s32 %r2, %r2, %r3;
	mul.wide.u32 %rd6, %r1, 16;
	add.s64 %rd6, %rd1, %rd6;
	setp.eq.s32 %p1, %r1, 0;
	selp.b32 %r5, 0, 16, %p1;
	cp.async.cg.shared.global [%r2], [%rd6], 16{size};
	cp.async.commit_group;
	cp.async.commit_group;
	cp.async.wait_group {groups};
	ld.shared.u32 %r4, [%r2+4];
	st.global.u32 [%rd5], %r4;"""


def test_copies_arrive_when_they_are_waited_for():
    given = torch.arange(256, dtype=torch.int32)
    assert np.array_equal(run(COPY.format(size="", groups=1), given), np.arange(1, 257, 4))
    assert set(run(COPY.format(size="", groups=2), given)) == {0x7FFF7FFF}


def test_where_nothing_is_copied_are_zeros():
    copied = run(COPY.format(size=", %r5", groups=0), torch.arange(256, dtype=torch.int32))
    assert copied[:3].tolist() == [0, 5, 9]


# ---- matrices


def matrices_loaded(count, kind="", target="sm_80", beyond=0):
    """Return what each thread of a warp loads from matrices with consecutive rows of 16 bytes."""
    registers = ", ".join(f"%r{20 + each}" for each in range(count))
    body = f"""
	mov.u32 %r2, _Zboard;
	shl.b32 %r3, %r1, 4;
	add.s32 %r2, %r2, %r3;
	mul.wide.u32 %rd6, %r1, 16;
	add.s64 %rd6, %rd1, %rd6;
	ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%rd6];
	st.shared.v4.u32 [%r2], {{%r10, %r11, %r12, %r13}};
	and.b32 %r4, %r1, 31;
	setp.ge.u32 %p1, %r4, {8 * count};
	@%p1 add.s32 %r2, %r2, {beyond};
	ldmatrix.sync.aligned.m8n8.x{count}{kind}.shared.b16 {{{registers}}}, [%r2];
	mul.wide.u32 %rd6, %r1, {4 * count};
	add.s64 %rd6, %rd2, %rd6;
	st.global.v{count}.u32 [%rd6], {{{registers}}};"""
    numbers = torch.arange(64 * 8, dtype=torch.int16).view(torch.int32)
    made = run(body, numbers, words=count, target=target)
    return made[: 32 * count].view(np.int16).reshape(32, count, 2)


def test_a_thread_gets_two_neighbours_of_each_matrix():
    for count in (2, 4):
        loaded, turned = matrices_loaded(count), matrices_loaded(count, ".trans")
        for lane in range(32):
            for matrix in range(count):
                row, column = lane // 4, lane % 4 * 2
                first = 64 * matrix + 8 * row + column
                assert loaded[lane, matrix].tolist() == [first, first + 1]
                assert turned[lane, matrix].tolist() == [64 * matrix + 8 * each + row for each in (column, column + 1)]


def test_on_turing_the_addresses_of_all_threads_must_be_there():
    assert matrices_loaded(2, beyond=10**6).size
    with pytest.raises(MemoryFault, match="shared memory"):
        matrices_loaded(2, beyond=10**6, target="sm_75")


def places(shape, each):
    """Rows and columns of each thread's a_i, b_i and c_i, according to the PTX ISA."""
    rows, _, depth = shape
    group, within = np.arange(32)[:, None] // 4, np.arange(32)[:, None] % 4
    i = np.arange(rows * depth // 32)
    lower = i // each % 2 == 1 if rows == 16 else np.zeros(len(i), bool)
    beyond = i >= 2 * each if rows == 16 else i >= each
    a = group + 8 * lower, within * each + i % each + 4 * each * beyond
    i = np.arange(8 * depth // 32)
    b = within * each + i % each + 4 * each * (i >= each), group + 0 * i
    i = np.arange(rows // 4)
    return a, b, (group + 8 * (i >= 2), within * 2 + i % 2)


def packed(matrix, place, kind):
    """Return the threads' registers for a matrix: (threads, registers)."""
    numbers = matrix[place]
    if kind == "bf16":
        return to_bfloat16(numbers).view(np.int32)
    if kind == "s4":
        halves = numbers.astype(np.int64).reshape(len(numbers), -1, 8) & 15
        return (halves << np.arange(0, 32, 4)).sum(axis=2).astype(np.uint32).view(np.int32)
    if kind == "e4m3":
        return to_e4m3(numbers.astype(np.float32)).view(np.int32)
    dtype = {"f16": np.float16, "s8": np.int8, "u8": np.uint8, "f32": np.float32, "s32": np.int32}[kind]
    return np.ascontiguousarray(numbers.astype(dtype)).view(np.int32)


def list_of(first, count):
    return "{" + ", ".join(f"%r{first + each}" for each in range(count)) + "}"


def multiplied(name, kind, sums, registers):
    """Return the accumulator registers, (64, registers), after one product in each of two warps."""
    counts = [each.shape[1] for each in registers]
    held = np.concatenate(registers, axis=1)
    words = held.shape[1]
    loads = "\n".join(f"ld.global.u32 %r{10 + each}, [%rd6+{4 * each}];" for each in range(words))
    a, b, c = (list_of(10 + sum(counts[:each]), counts[each]) for each in range(3))
    stores = "\n".join(f"st.global.u32 [%rd7+{4 * each}], %r{30 + each};" for each in range(counts[2]))
    types = f"{kind}.{kind.replace('u', 's')}"
    body = f"""
	mul.wide.u32 %rd6, %r1, {4 * words};
	add.s64 %rd6, %rd1, %rd6;
	mul.wide.u32 %rd7, %r1, {4 * counts[2]};
	add.s64 %rd7, %rd2, %rd7;
	{loads}
	mma.sync.aligned.{name}.row.col.{sums}.{types}.{sums} {list_of(30, counts[2])}, {a}, {b}, {c};
	{stores}"""
    given = torch.from_numpy(np.ascontiguousarray(np.tile(held, (2, 1))))
    return run(body, given, words=counts[2]).reshape(64, -1)


@pytest.mark.parametrize(
    ("name", "sums", "kind"), [(name, *types) for name in SHAPES for types in sorted(SHAPES[name])], ids=str
)
def test_products_are_those_of_matrices(name, sums, kind):
    rows, _, depth = shape = tuple(int(each) for each in re.findall(r"\d+", name))
    lots = np.random.default_rng(0)
    left, right, before = (lots.integers(-8, 8, size) for size in ((rows, depth), (depth, 8), (rows, 8)))
    left = abs(left) if kind == "u8" else left
    of_a, of_b, of_c = places(shape, NUMBERS[kind])
    registers = [packed(left, of_a, kind), packed(right, of_b, kind), packed(before, of_c, sums)]
    made = multiplied(name, kind, sums, registers)
    assert np.array_equal(made, np.tile(packed(left @ right + before, of_c, sums), (2, 1)))


# ---- errors


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ld.global.u32 %r2, [%rd1+256];", "4 bytes of global memory cannot be read"),
        ("ld.global.u32 %r2, [%rd1+-4];", "4 bytes of global memory cannot be read"),
        ("ld.global.u32 %r2, [%rd1+2];", "4 bytes of global memory cannot be read"),
        ("ld.global.v2.u32 {%r2, %r3}, [%rd4+4];", "8 bytes of global memory cannot be read"),
        ("st.global.u32 [%rd4], %r1;", "4 bytes of global memory cannot be written"),
        ("st.global.u32 [%rd5+4], %r1;", "4 bytes of global memory cannot be written"),
        ("st.shared.u32 [_Zboard+1024], %r1;", "4 bytes of shared memory are not there at 1024"),
        ("ld.param.u32 %r2, [trial_param_0+24];", "there is no parameter of 4 bytes at 24"),
        ("st.global.v2.u32 [%rd2], {%r1, %r1, %r1, %r1};", "not 2 registers"),
        ("mul24.lo.s32 %r2, %r1, %r1;", "unknown instruction"),
        ("add.sat.s32 %r2, %r1, %r1;", "unknown instruction"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r1}, {%f1};", "unknown instruction"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.s8.s8.f32 {%f1}, {%r1}, {%r1}, {%f1};", "unknown types"),
        ("add.s32 %r2, %r3, %r1;", "%r3 is read, and nothing wrote it"),
        ("add.s64 %rd6, %rd1, %r1;", "a register of type uint32 is read as int64"),
        ("add.s64 %r2, %rd1, %rd1;", "a register of type uint32 is given a int64"),
        ("mov.u32 %x1, 1;", "the register %x1 is not declared"),
        ("mov.u32 %r2, _Zother;", "_Zother is not declared"),
        ("bra $L__BB0_9;", "is no label"),
        ("setp.eq.s32 %p1, %r1, 3; @%p1 bar.sync 0;", "some threads of a block are not at the barrier"),
        ("setp.eq.s32 %p1, %r1, 3; @%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", "only some threads of a warp"),
        ("shfl.sync.bfly.b32 %r2, %r1, 1, 15, -1;", "a shuffle of a part of a warp"),
        ("div.s32 %r2, 1, 0;", "division by zero"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(body, words):
    with pytest.raises((PtxError, MemoryFault), match=re.escape(words)) as caught:
        run(f"\tmov.u32 %r9, 1;\n\t{body}")
    assert f"in line {FIRST_LINE + 1}: " in str(caught.value)


def test_a_launch_must_be_the_kernel_s():
    with pytest.raises(PtxError, match="for blocks of 64 threads, and not of 32"):
        run("", threads=32)
    with pytest.raises(PtxError, match="there is not one kernel other"):
        kernel_of(HEADER.format(target="sm_80") + "ret;\n}\n", "other")


def test_the_struct_must_have_the_parameter_s_size():
    program = kernel_of(HEADER.format(target="sm_80") + "ret;\n\n}\n", "trial")
    with pytest.raises(PtxError, match="trial takes 24 bytes, and 8 are given"):
        launch(program, GlobalMemory([], []), ctypes.c_int64(1), blocks=1, threads=64, shared_bytes=0)


class Shifted(ctypes.Structure):
    _fields_ = (("read", ctypes.c_void_p), ("number", ctypes.c_int32), ("written", ctypes.c_void_p))


def test_structs_with_other_fields_are_told():
    program = kernel_of(HEADER.format(target="sm_80") + "ld.param.u32 %r9, [trial_param_0+16];\n\n}\n", "trial")
    assert misread(program, Params) == []
    assert misread(program, Shifted) == [
        "ld.param.u64 %rd2, [trial_param_0+8]",
        "ld.param.u32 %r9, [trial_param_0+16]",
    ]
