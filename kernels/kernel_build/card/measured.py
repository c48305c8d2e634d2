"""What the engine's benchmarks measure, as rows of a part."""

import dataclasses
from typing import Any

from kernel_build.card.machine import STUB
from kernel_build.card.protocol import Row

OURS = "mezzotint"


def item_of(shape: str, implementation: str) -> str:
    """What an implementation on a shape is called."""
    return f"{shape}: {implementation}"


def row_of(found: Any, stub: bool) -> Row:  # noqa: ANN401  a BenchRow or a ProductRow
    """The row of a measurement; ours has to run, others may not."""
    measured = dataclasses.asdict(found) | ({"device": STUB} if stub else {})
    outcome = "ok"
    if found.problem:
        outcome = "failed" if OURS in found.implementation else "unavailable"
    return Row(
        item=item_of(found.shape, found.implementation), outcome=outcome, problem=found.problem, measured=measured
    )


def absent(name: str, package: str) -> Row:
    """A peer that is not there."""
    return Row(item=name, outcome="unavailable", problem=f"not there: the package {package} is not installed")
