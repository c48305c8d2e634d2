"""Test our gradients of attention, then benchmark them against SDPA's, shape by shape."""

from collections.abc import Sequence

import torch

from kernel_build.card import stub as stubs
from kernel_build.card.measured import item_of, row_of
from kernel_build.card.protocol import Row, Teller
from mezzotint.attention.compiled_backward import CompiledBackward
from mezzotint.attention.self_test import run_backward_self_test
from mezzotint.benchmarks.attention import dtype_for, kernels_for, measure_shape
from mezzotint.benchmarks.attention_backward import GRADIENTS, gradient_implementations, gradient_shapes, quiet
from mezzotint.dispatch.library import open_installed


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row for the self-test, then one per implementation and shape."""
    del words
    device = torch.device("cpu" if stub else "cuda:0")
    forward, problem = (stubs.attention(), None) if stub else kernels_for(device)
    if forward is None:
        raise SystemExit(f"our kernels cannot be measured: {problem}")
    backward = stubs.attention_backward() if stub else CompiledBackward(open_installed())
    dtype = torch.bfloat16 if stub else dtype_for(device)
    _self_test(teller, backward, device, dtype)
    found = gradient_implementations(device, forward, backward)
    shapes = gradient_shapes()
    with quiet():
        for shape in [each.small() for each in stubs.some(shapes)] if stub else shapes:
            rows = measure_shape(
                shape, found, device, dtype, lambda *names: teller.wants(item_of(*names)), of=GRADIENTS
            )
            for row in rows:
                teller.row(row_of(row, stub))


def _self_test(teller: Teller, kernels: CompiledBackward, device: torch.device, dtype: torch.dtype) -> None:
    item = f"mezzotint self-test, {str(dtype).removeprefix('torch.')}"
    if teller.wants(item):
        test = run_backward_self_test(kernels, device, dtype)
        teller.row(Row(item=item, outcome="ok" if test.problem is None else "failed", problem=test.problem))
