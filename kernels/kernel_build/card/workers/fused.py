"""Benchmark what our kernels compute around products, and GroupNorm after its self-test."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from kernel_build.card import stub as stubs
from kernel_build.card.measured import item_of, row_of
from kernel_build.card.protocol import Row, Teller
from mezzotint.benchmarks.attention import dtype_for, quiet
from mezzotint.benchmarks.fused_products import measure_fused
from mezzotint.benchmarks.product_shapes import FUSED, ConvolutionShape, LinearShape, ProductShape
from mezzotint.benchmarks.products import kernels_for
from mezzotint.dispatch.library import open_installed
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.normalization.self_test import run_group_norm_self_test

_ROWS, _COLUMNS = 32, 128  # of a stub


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row for GroupNorm's self-test, then one per implementation and shape."""
    del words
    device = torch.device("cpu" if stub else "cuda:0")
    kernels, problem = (stubs.products(), None) if stub else kernels_for(device)
    if kernels is None:
        raise SystemExit(f"our kernels cannot be measured: {problem}")
    norms = stubs.group_norm() if stub else CompiledGroupNorm(open_installed())
    dtype = torch.bfloat16 if stub else dtype_for(device)
    shapes = [_small(shape) for shape in FUSED] if stub else FUSED
    with quiet():
        _self_test(teller, norms, device, dtype)
        for row in measure_fused(device, dtype, kernels, norms, lambda *names: teller.wants(item_of(*names)), shapes):
            teller.row(row_of(row, stub))


def _self_test(teller: Teller, norms: CompiledGroupNorm, device: torch.device, dtype: torch.dtype) -> None:
    item = f"mezzotint self-test, GroupNorm, {str(dtype).removeprefix('torch.')}"
    if teller.wants(item):
        test = run_group_norm_self_test(norms, device, dtype)
        teller.row(Row(item=item, outcome="ok" if test.problem is None else "failed", problem=test.problem))


def _small(shape: ProductShape) -> ProductShape:
    if isinstance(shape, ConvolutionShape):
        return replace(shape, rows=2 * _ROWS, columns=64, outputs=64, width=8)
    if isinstance(shape, LinearShape):
        return replace(shape, rows=_ROWS, columns=_COLUMNS, outputs=3 * _COLUMNS)
    return replace(shape, rows=_ROWS, columns=_COLUMNS)
