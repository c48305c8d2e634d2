"""Convert the engine's benchmark results to rows of a part."""

import dataclasses
from typing import Any

from kernel_build.card.machine import STUB
from kernel_build.card.protocol import Row

OURS = "mezzotint"
# Expected refusals, as worded in attention/choose.cpp and sweep.cpp.
_KINDS = ("int8", "int8-all", "int8-fp8", "flash-fp16")
_REFUSED = (*(f"no {kind} kernel" for kind in _KINDS), "is not for these arguments on this device")


def item_of(shape: str, implementation: str) -> str:
    """Return the item name of an implementation on a shape."""
    return f"{shape}: {implementation}"


def row_of(found: Any, stub: bool) -> Row:  # noqa: ANN401  a BenchRow or a ProductRow
    """Return a measurement's row. Ours must run (int8 scores do not exist for every head size); peers may fail."""
    measured = dataclasses.asdict(found) | ({"device": STUB} if stub else {})
    outcome = "ok"
    if found.problem:
        ours = OURS in found.implementation and not any(words in found.problem for words in _REFUSED)
        outcome = "failed" if ours else "unavailable"
    return Row(
        item=item_of(found.shape, found.implementation), outcome=outcome, problem=found.problem, measured=measured
    )


def absent(name: str, package: str) -> Row:
    """Return the row of a peer that is not installed."""
    return Row(item=name, outcome="unavailable", problem=f"not there: the package {package} is not installed")
