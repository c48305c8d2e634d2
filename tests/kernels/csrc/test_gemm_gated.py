"""Activations of products and gated linear units on the emulator."""

import pytest
import torch
from emulated_linear import LinearEmulator, Problem
from linear_instances import Card

from mezzotint_kernels.abi import Activation

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

GELU, GATED_GELU, GATED_SILU = list(Activation)[1:]
PROBLEMS = {
    "GELU": Problem(activation=GELU, bias=True, dtype=torch.bfloat16, depth=320, seed=1),
    "GELU before gate and residual": Problem(activation=GELU, gate=9, residual="out", gap=1),
    "GELU after a branch, 4 bits": Problem(activation=GELU, bits=4, rank=32, bias=True),
    "GELU, 4 bits of both": Problem(activation=GELU, bits=4, x_bits=4, depth=320),
    "GELU, scales by group": Problem(activation=GELU, bits=4, x_bits=4, by_group=True, rank=16, bias=True),
    "GELU, a codebook": Problem(activation=GELU, bits=4, codebook=True),
    "GELU, floats": Problem(activation=GELU, floats=True, bias=True),
    "gated by GELU": Problem(activation=GATED_GELU, bias=True, rows=130, columns=136, depth=448),
    "gated by SiLU": Problem(activation=GATED_SILU, dtype=torch.bfloat16, gap=2, columns=24, depth=80),
    "gated, one row of eight columns": Problem(activation=GATED_SILU, rows=1, columns=8, depth=16, stubborn=True),
    "gated, copies at once": Problem(activation=GATED_GELU, depth=512, late_copies=False, columns=200),
    "gated on Turing": Problem(activation=GATED_GELU, turing=True, bias=True, depth=208),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_the_activation_is_in_the_product(emulated, problem):
    emulator = LinearEmulator(emulated)
    assert emulator.numbers(problem)
    for number in emulator.numbers(problem):
        verdict = emulator.run(problem, number)
        assert (verdict.error, verdict.bank_conflicts) == ("", 0)
        assert verdict.output <= 1


def test_tiles_of_gated_units_fit_the_product(emulated):
    emulator = LinearEmulator(emulated)
    card = Card(architecture=89, multiprocessors=128, shared_bytes=99 * 1024)
    large, small = (
        emulator.plan(card, rows=rows, depth=3072, columns=9216, activation=GATED_SILU) for rows in (4608, 60)
    )
    assert (large.text, small.text) == ("linear w8a8 gated float16 256x128", "linear w8a8 gated float16 64x64")
    assert large.instance.is_gated and not emulator.plan(card, rows=60, depth=64, columns=64).instance.is_gated
