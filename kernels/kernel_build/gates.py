"""What machine code must be: no spill, no stack, registers within the table, the expected instructions."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from kernel_build.machine_code import Kernel, Unit
from kernel_build.registers import WRITE, RegisterTable
from kernel_build.sass import count

# Loads from and stores to local memory: registers that did not fit.
FORBIDDEN = ("LDL", "STL")
# Turing has no bfloat16 and little shared memory: what it cannot run is compiled to nothing, and never chosen there.
_EMPTY = 64  # instructions, with those that only fill up
# Where sums in float16 are no faster, their kernels are compiled to nothing, too.
_FULL_RATE = (80, 90, 100)
# The others multiply floats of 8 bits as numbers of 16, or by instructions that are not used here.
_FP8 = (89, 120)
# Where 16-bit products that are not by our kernels are faster than 8-bit ones by them, those are compiled to nothing.
_WITHOUT_INT8 = (100,)
_OF_INT8 = ("linear_product", "convolution_product", "attention_int8", "quantize_rows", "quantize_groups")
# The five numbers of a shape, and that masks are looked at: 32 keys of them by one vote.
_MASKED = re.compile(r"\bShape(?:\.\d+){5}\.1\.")
# Loops in which a running maximum is raised only where a warp's vote says so: the usual step has no shuffle.
_VOTED = re.compile(r":attention_(forward|int8|half_sums|hopper)\.")
# What products of 16-bit numbers sum in.
_SUMS = {"attention_half_sums": ("F16", "F32"), "attention_int8": ("F16",)}
# Rows to be quantized are read and written in wide pieces, and rotated in 32 bits by shuffles.
_OF_ROWS = ("LDG.E.128", "STG.E.64", "SHFL.BFLY")
_OF_INT4_ROWS = ("LDG.E.128", "STG.E", "SHFL.BFLY")
_OF_BLOCK_SCALED_ROWS = ("LDG.E.128", "STG.E", "STG.E.U8", "SHFL.BFLY", "F2FP.SATFINITE")
# Products that apply the blocks' scales themselves; the format is a number in the kernel's name.
_BLOCK_SCALED = {"nvfp4": "OMMA.SF.16864", "mxfp8": "QMMA.SF.16832"}
# Sums of parts of the keys are read in wide pieces.
_OF_PARTS = ("LDG.E.128", "MUFU.EX2")
_NVFP4 = re.compile(r"_product\.\w+\.2\.")
_INT4_ROWS = ("int4_quantize_rows", "int4_quantize_groups")
_OF_INT4 = ("int4_linear_product", "grouped_linear_product")  # products of 4-bit integers
_WITHOUT_BRANCH = ("gated_linear_product", "split_linear_product")  # whose products are of 16 bits
_NOT_OF_ROWS = ("HMMA", "IMMA")
# Hopper's own copies and products. It waits for products at four places: ptxas, where it finds that their registers are
# touched in between, makes each wait for the one before it, and only mentions that.
_OF_HOPPER = ("HGMMA", "UTMALDG.4D", "SYNCS.PHASECHK", "BAR.ARV", "MUFU.EX2", "VOTE")
_WAITS_OF_HOPPER = 4


def expected(kernel: Kernel) -> Sequence[str]:
    """The instructions that must stand in a kernel's loops; none of a kernel that only prepares or joins."""
    number = _number(kernel)
    left_out = number < 80 or ("attention_half_sums" in kernel.name and number in _FULL_RATE)
    if _is_hopper(kernel):
        return _OF_HOPPER
    if _is_left_out(kernel) or (left_out and kernel.instructions.everywhere.total() < _EMPTY):
        return ()
    if "join_splits" in kernel.name:
        return _OF_PARTS
    if "block_scaled_linear_product" in kernel.name:
        words = ["LDSM", "HMMA", _BLOCK_SCALED["nvfp4" if _NVFP4.search(kernel.label) else "mxfp8"]]
    elif "fp8_linear_product" in kernel.name:
        words = ["QMMA.16832.F32.E4M3.E4M3", "FADD", "LDSM", "HMMA"]
    elif "convolution_product" in kernel.name:
        words = ["IMMA", "LDSM", "FFMA"]
    elif "linear_product" in kernel.name:
        has_branch = not any(each in kernel.name for each in _WITHOUT_BRANCH)
        words = ["IMMA"] * ("join_linear" not in kernel.name) + ["LDSM"] + ["HMMA"] * has_branch
        words += [f"IMMA.{'8832' if number < 80 else '16864'}.S4"] * (
            any(name in kernel.name for name in _OF_INT4) and number < 90
        )
    elif "attention_" in kernel.name:
        words = ["LDSM", "MUFU.EX2"] + ["IMMA"] * _kind(kernel).startswith("attention_int8")
        words += ["QMMA.16832.F16.E4M3.E4M3", "VOTE"] * ("int8_fp8" in kernel.name)
        words += ["HMMA"] * all(name not in kernel.name for name in ("int8_all", "int8_fp8"))
        words += [f"HMMA.{'1688' if number < 80 else '16816'}.{kind}" for kind in _SUMS.get(_kind(kernel), ())]
        words += ["VOTE"] * bool(_VOTED.search(kernel.label) or _MASKED.search(kernel.label))
    else:
        return ()
    if number >= 80:
        words.append("LDGSTS")
    return words


def _kind(kernel: Kernel) -> str:
    return kernel.label.partition(":")[2].partition(".")[0]


def _is_left_out(kernel: Kernel) -> bool:
    """Whether it is a kernel of 8-bit numbers, compiled to nothing where they are not multiplied."""
    number = _number(kernel)
    left_out = "fp8" in kernel.name and number not in _FP8
    left_out |= number in _WITHOUT_INT8 and any(each in kernel.name for each in _OF_INT8)
    return left_out and kernel.instructions.everywhere.total() < _EMPTY


def _is_hopper(kernel: Kernel) -> bool:
    return "attention_hopper" in kernel.name


def _number(kernel: Kernel) -> int:
    return int(kernel.architecture.removeprefix("sm_").rstrip("af"))


def failures(
    kernels: Iterable[Kernel], table: RegisterTable, compiler: str, left_out: Collection[Unit] = ()
) -> list[str]:
    """Everything that is not as it must be, a line each; nothing of what was left out."""
    every = list(kernels)
    if table.compiler != compiler:
        return [
            f"the table of registers is for nvcc {table.compiler}, and this is {compiler}: use that, or run {WRITE}"
        ]
    compiled = {kernel.architecture for kernel in every}
    unseen = {(unit.source.stem, unit.architecture) for unit in left_out}
    gone = table.registers.keys() - {(kernel.label, kernel.architecture) for kernel in every}
    lines = [line for kernel in every for line in _of_kernel(kernel, table)]
    return lines + [
        f"{name} on {architecture} is in the table and was not compiled: {WRITE}"
        for name, architecture in sorted(gone)
        if architecture in compiled and (name.partition(":")[0], architecture) not in unseen
    ]


def _of_kernel(kernel: Kernel, table: RegisterTable) -> Iterator[str]:
    where = f"{kernel.label} on {kernel.architecture}"
    used, code = kernel.resources, kernel.instructions
    if used.spill_stores or used.spill_loads or used.stack:
        yield (
            f"{where} spills: {used.spill_stores} bytes stored, {used.spill_loads} loaded, a stack of {used.stack}; "
            "hold less in registers (a smaller tile)"
        )
    if local := sum(count(code.everywhere, name) for name in FORBIDDEN):
        yield f"{where} uses local memory: {local} of {' and '.join(FORBIDDEN)}; index arrays by constants only"
    if _VOTED.search(kernel.label) and (shuffles := count(code.usual, "SHFL")):
        yield f"{where} has {shuffles} of SHFL in its usual step: raise a row's maximum only where its warp votes so"
    is_attention = ":attention_" in kernel.label and code.everywhere.total() >= _EMPTY
    wide = is_attention or "join_splits" in kernel.name
    if wide and not count(code.everywhere, "STG.E.128"):
        yield f"{where} has no STG.E.128: its output is to be stored 16 bytes at a time"
    if ("quantize_rows" in kernel.name or "quantize_groups" in kernel.name) and not _is_left_out(kernel):
        yield from _of_rows(kernel, where)
    yield from _of_hopper(kernel, where)
    for name in expected(kernel):
        if not count(code.in_loops, name):
            yield f"{where} has no {name} in a loop: is it compiled for what it is meant for?"
    allowed = table.registers.get((kernel.label, kernel.architecture))
    if allowed is None:
        yield f"{where} is not in the table of registers: {WRITE}"
    elif used.registers > allowed:
        yield f"{where} uses {used.registers} registers, and the table allows {allowed}: mend it, or {WRITE}"


def _of_hopper(kernel: Kernel, where: str) -> Iterator[str]:
    waits = count(kernel.instructions.everywhere, "WARPGROUP.DEPBAR")
    if _is_hopper(kernel) and waits > _WAITS_OF_HOPPER:
        yield f"{where} waits for products at {waits} places and not {_WAITS_OF_HOPPER}: are their registers touched?"


def _of_rows(kernel: Kernel, where: str) -> Iterator[str]:
    code = kernel.instructions.everywhere
    for name in _words_of_rows(kernel.name):
        if not count(code, name):
            yield f"{where} has no {name}: rows are to be read and written in wide pieces and rotated by shuffles"
    for name in _NOT_OF_ROWS:
        if number := count(code, name):
            yield f"{where} has {number} of {name}: a rotation is to be in 32 bits, and needs no product"


def _words_of_rows(name: str) -> Sequence[str]:
    if "block_scaled_quantize_rows" in name:
        return _OF_BLOCK_SCALED_ROWS
    return _OF_INT4_ROWS if any(each in name for each in _INT4_ROWS) else _OF_ROWS
