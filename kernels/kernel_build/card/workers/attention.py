"""Benchmark our attention against torch's and Triton's, shape by shape."""

from collections.abc import Mapping, Sequence

import torch

from kernel_build.card import stub as stubs
from kernel_build.card.measured import absent, item_of, row_of
from kernel_build.card.protocol import Teller
from kernel_build.targets import ATTENTION_TARGETS
from mezzotint.benchmarks.attention import (
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
from mezzotint.benchmarks.attention_shapes import Shape


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row per implementation and shape of the groups in `words`."""
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
            _measure(teller, shape, found, device, dtype, stub)
        if triton is not None:  # last: it compiles for each shape, which takes seconds
            for shape in with_targets(shapes):
                _measure(teller, shape, {TRITON: triton}, device, dtype, stub)


def _measure(
    teller: Teller,
    shape: Shape,
    found: Mapping[str, Implementation],
    device: torch.device,
    dtype: torch.dtype,
    stub: bool,
) -> None:
    for row in measure_shape(shape, found, device, dtype, lambda *names: teller.wants(item_of(*names))):
        teller.row(row_of(row, stub))


def by_targets(shapes: Sequence[Shape]) -> list[Shape]:
    """Sort shapes that have targets first, in case time runs out."""
    return sorted(shapes, key=lambda shape: shape not in with_targets(shapes))


def with_targets(shapes: Sequence[Shape]) -> list[Shape]:
    """Return the shapes that have targets."""
    wanted = {target.what.rpartition(": ")[0] for target in ATTENTION_TARGETS}
    return [shape for shape in shapes if shape.name in wanted]
