"""Test our linear attention, then benchmark it against the same in torch, shape by shape and map by map."""

from collections.abc import Sequence

import torch

from kernel_build.card import stub as stubs
from kernel_build.card.measured import item_of, row_of
from kernel_build.card.protocol import Row, Teller
from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.self_test import run_linear_self_test
from mezzotint.benchmarks.attention import dtype_for, measure_shape, quiet
from mezzotint.benchmarks.linear_attention import SHAPES, feature_maps, linear_implementations, linear_pass
from mezzotint.dispatch.library import Unavailable, open_installed


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row for the self-test, then one per implementation, shape and map."""
    del words
    device = torch.device("cpu" if stub else "cuda:0")
    try:
        kernels = stubs.linear_attention() if stub else CompiledLinearAttention(open_installed())
    except Unavailable as error:
        raise SystemExit(f"our kernels cannot be measured: {error}") from error
    dtype = torch.bfloat16 if stub else dtype_for(device)
    with quiet():
        _self_test(teller, kernels, device, dtype)
        for shape in [each.small() for each in stubs.some(SHAPES)] if stub else SHAPES:
            for name, features in feature_maps(shape, device).items():
                found = linear_implementations(features, kernels)
                of = linear_pass(shape, name, features)
                for row in measure_shape(
                    shape, found, device, dtype, lambda *names: teller.wants(item_of(*names)), of=of
                ):
                    teller.row(row_of(row, stub))


def _self_test(teller: Teller, kernels: CompiledLinearAttention, device: torch.device, dtype: torch.dtype) -> None:
    item = f"mezzotint self-test, linear attention, {str(dtype).removeprefix('torch.')}"
    if teller.wants(item):
        test = run_linear_self_test(kernels, device, dtype)
        teller.row(Row(item=item, outcome="ok" if test.problem is None else "failed", problem=test.problem))
