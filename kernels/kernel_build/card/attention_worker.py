"""Our attention beside torch's and Triton's, shape by shape."""

from collections.abc import Sequence

import torch

from kernel_build.card import stub as stubs
from kernel_build.card.measured import absent, item_of, row_of
from kernel_build.card.protocol import Teller
from kernel_build.targets import ATTENTION_TARGETS
from mezzotint.attention.benchmark import (
    TRITON,
    Implementation,
    choose,
    dtype_for,
    implementations,
    kernels_for,
    measure_shape,
    quiet,
    triton_implementation,
)
from mezzotint.attention.shapes import Shape


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """A row for each implementation on each shape of these groups."""
    device = torch.device("cpu" if stub else "cuda:0")
    kernels, problem = (stubs.attention(), None) if stub else kernels_for(device)
    if kernels is None:
        raise SystemExit(f"our kernels cannot be measured: {problem}")
    shapes = stubs.some(choose(words, device)) if stub else by_targets(choose(words, device))
    dtype = torch.bfloat16 if stub else dtype_for(device)
    triton = None if stub else triton_implementation()
    if triton is None and teller.wants(TRITON):
        teller.row(absent(TRITON, "triton"))
    with quiet():
        found = implementations(device, kernels)
        for shape in shapes:
            for row in measure_shape(
                shape, beside(found, shape, triton), device, dtype, lambda *names: teller.wants(item_of(*names))
            ):
                teller.row(row_of(row, stub))


def by_targets(shapes: Sequence[Shape]) -> list[Shape]:
    """Those first that targets are about, should time not suffice for all."""
    wanted = {target.what.rpartition(": ")[0] for target in ATTENTION_TARGETS}
    return sorted(shapes, key=lambda shape: shape.name not in wanted)


def beside(found: dict[str, Implementation], shape: Shape, triton: Implementation | None) -> dict[str, Implementation]:
    """What is measured of a shape; Triton, which compiles for seconds, only where there is a target, and last."""
    told = triton is not None and any(target.what.startswith(f"{shape.name}: ") for target in ATTENTION_TARGETS)
    return {**found, TRITON: triton} if told and triton is not None else found
