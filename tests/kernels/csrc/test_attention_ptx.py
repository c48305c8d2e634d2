"""Attention from the PTX that nvcc makes of the kernels: it is run, and gives what the reference gives.

Threads go in lockstep here; what their order may spoil, the emulator of fibres shows (test_attention_forward.py).
"""

import re
from dataclasses import replace
from typing import Any

import pytest
from backward_tiles import Dropout
from emulated_kernels import DROPOUT, HALF_SUMS, HOPPER, INT8, INT8_ALL, INT8_FP8, SHORT_KEYS, Problem, judge
from ptx import cases, quantize_launch
from ptx.attention_kernel import AttentionKernel, join_of, programs
from ptx.attention_launch import ForwardParams, Int8Params, attend
from ptx.structs import misread

from kernel_build.sources import CSRC

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

PTX_IN_SOURCES = re.compile(r'"((?:cp|st|ld|ldmatrix|mma|ex2|rcp|max|mov)\.[\w.]+)')
FILES = sorted(path.stem for path in (CSRC / "attention" / "instances").glob("*.cu"))
ALL = [(name, "sm_90a" if name.startswith("hopper_") else "sm_89") for name in FILES] + [
    (name, "sm_75") for name in FILES if name.startswith("float16_")
]


def check(ptx, kernel, problem):
    program, passes = programs(ptx, kernel)
    attended = attend(kernel, program, problem, passes, join_of(ptx, kernel) if problem.splits > 1 else None)
    output, lse = judge(attended.tensors)
    assert output <= 1, f"the output is {output:.3g} times as far off as it may be"
    assert lse <= 1, f"the logarithms of sums are {lse:.3g} times as far off as they may be"
    return attended


@pytest.mark.slow_after(4)
@pytest.mark.parametrize(("kernel", "problem"), cases.ATTENTION.values(), ids=cases.ATTENTION.keys())
def test_ptx_gives_what_the_reference_gives(ptx, kernel, problem):
    check(ptx, kernel, problem)


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in cases.ATTENTION.values() if case[0].architecture == "sm_80"])
def test_the_same_on_blackwell(ptx, case):
    """For which nvcc writes another text."""
    kernel, problem = case
    check(ptx, replace(kernel, architecture="sm_120"), problem)


def test_copies_are_on_their_way_while_others_are_multiplied(ptx):
    """Values and the next keys at the 32 products of a tile's scores, the next keys at those of its weights."""
    attended = check(ptx, cases.PLAIN, Problem(head_dim=64, dtype=cases.FLOAT, nq=64, nk=192))
    blocks, tiles, products, copies = 2, 3, 32, 64 * 64 * 2 // 16
    assert attended.overlapping == blocks * products * copies * (tiles + 2 * (tiles - 1))


# Hopper's kernels read theirs by its address, so that only a run shows it.
READING = dict.fromkeys(kernel for kernel, _ in cases.ATTENTION.values() if kernel.kind != HOPPER)


@pytest.mark.slow_after(4)
@pytest.mark.parametrize("kernel", READING, ids=lambda each: each.name)
def test_struct_is_the_one_that_the_kernel_reads(ptx, kernel):
    program, passes = programs(ptx, kernel)
    struct = Int8Params if kernel.kind in (INT8, INT8_ALL, HALF_SUMS, INT8_FP8) else ForwardParams
    assert [misread(each, struct) for each in (program, *passes)] == [[]] * (1 + len(passes))
    assert misread(join_of(ptx, kernel), ForwardParams) == []


@pytest.mark.slow
def test_all_ptx_of_the_sources_is_run(ptx):
    kernels: list[Any] = [kernel for kernel, _ in (*cases.ATTENTION.values(), *cases.LINEAR.values())]
    made = [ptx(each.source, each.architecture, (each.instance,)) for each in kernels]
    made.append(ptx(quantize_launch.SOURCE, "sm_80"))
    written = set(PTX_IN_SOURCES.findall((CSRC / "primitives.h").read_text("utf-8")))
    assert len(written) >= 20
    assert [name for name in sorted(written) if not any(name in text for text in made)] == []


def instances_of(name):
    text = (CSRC / "attention" / "instances" / f"{name}.cu").read_text("utf-8")
    return tuple(re.findall(r"^ +(\w*instance<.+>)\(", text, re.MULTILINE))


def problem_for(kernel):
    sizes = {"nq": 70, "nk": min(150, kernel.tile_n) if kernel.kind == SHORT_KEYS else 150}
    masks = {"key_mask": "late", "bias": "full", "table": "random"} if kernel.masked else {}
    more = {"dropout": Dropout(kept=200, seed=1)} if kernel.kind == DROPOUT else masks
    kinds = {"int8": INT8, "int8_all": INT8_ALL, "half_sums": HALF_SUMS, "int8_fp8": INT8_FP8, "hopper": HOPPER}
    more |= {name: kernel.kind == kind for name, kind in kinds.items()}
    return Problem(head_dim=kernel.head_dim, dtype=kernel.dtype, **sizes, **more)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "architecture"), ALL)
def test_ptx_of_every_instance(ptx, name, architecture):
    lines = instances_of(name)
    kernels = [AttentionKernel(instance=line, architecture=architecture) for line in lines]
    assert kernels
    for kernel in kernels:
        if kernel.runs:
            program, passes = programs(ptx, kernel, lines)
            assert max(judge(attend(kernel, program, problem_for(kernel), passes).tensors)) <= 1, kernel.name
