"""What the engine's benchmarks measure, as rows of a part."""

import dataclasses
from typing import Any

from kernel_build.card.machine import STUB
from kernel_build.card.protocol import Row

OURS = "mezzotint"
# What the library refuses as it should, in the words of attention/choose.cpp and sweep.cpp.
_REFUSED = ("no int8 kernel", "is not for these arguments on this device")


def item_of(shape: str, implementation: str) -> str:
    """What an implementation on a shape is called."""
    return f"{shape}: {implementation}"


def row_of(found: Any, stub: bool) -> Row:  # noqa: ANN401  a BenchRow or a ProductRow
    """The row of a measurement; ours has to run, others may not, nor has every head size scores in 8 bits."""
    measured = dataclasses.asdict(found) | ({"device": STUB} if stub else {})
    outcome = "ok"
    if found.problem:
        ours = OURS in found.implementation and not any(words in found.problem for words in _REFUSED)
        outcome = "failed" if ours else "unavailable"
    return Row(
        item=item_of(found.shape, found.implementation), outcome=outcome, problem=found.problem, measured=measured
    )


def absent(name: str, package: str) -> Row:
    """A peer that is not there."""
    return Row(item=name, outcome="unavailable", problem=f"not there: the package {package} is not installed")
