"""Products on the emulator: fuzzed problems, the same in every run, and what each verdict must be."""

import random
from collections.abc import Callable, Sequence

import torch
from emulated_linear import LinearEmulator, Problem, Verdict

DTYPES = (torch.float16, torch.bfloat16)
ENDS: tuple[dict[str, object], ...] = (
    {},
    {"bias": True},
    {"rank": 16},
    {"gate": 7, "residual": "given"},
    {"bias": True, "gate": 50, "residual": "out"},
    {"bias": True, "rank": 80},
)


def fuzzed(make: Callable[..., Problem], depths: Sequence[int], number: int, **given: object) -> Problem:
    """Draw a problem of a few sizes, with what is given."""
    lots = random.Random(f"{given.get('dtype')} {number}")
    return make(
        rows=lots.choice((1, 2, 17, 64, 65, 129)),
        columns=lots.choice((8, 24, 72, 128, 136)),
        depth=lots.choice(depths),
        gap=lots.choice((0, 0, 1, 3)),
        late_copies=lots.random() < 0.7,
        stubborn=number % 4 == 0,
        seed=number,
        **given,
    )


def name_of(problem: Problem) -> str:
    """Name of a test with it."""
    return f"{problem.rows}x{problem.depth}x{problem.columns} {problem.seed}"


def check(emulator: LinearEmulator, problem: Problem, number: int) -> Verdict:
    """Run an instance, which must be right."""
    verdict = emulator.run(problem, number)
    assert verdict.error == ""
    assert verdict.output <= 1
    assert verdict.bank_conflicts == 0
    return verdict
