"""Benchmark our quantized linear layers and activation quantization against torch's and others'."""

import importlib.util
from collections.abc import Sequence

import torch

from kernel_build.card import stub as stubs
from kernel_build.card.measured import absent, item_of, row_of
from kernel_build.card.protocol import Teller
from mezzotint.benchmarks.attention import dtype_for, quiet
from mezzotint.benchmarks.products import choose, kernels_for, measure

_PEERS = {"bitsandbytes int8": "bitsandbytes", "torchao int8": "torchao"}


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row per implementation and shape of the groups in `words`."""
    device = torch.device("cpu" if stub else "cuda:0")
    kernels, problem = (stubs.products(), None) if stub else kernels_for(device)
    if kernels is None:
        raise SystemExit(f"our kernels cannot be measured: {problem}")
    for name, package in _PEERS.items():
        if importlib.util.find_spec(package) is None and teller.wants(name):
            teller.row(absent(name, package))
    shapes = stubs.some(choose(words, device)) if stub else choose(words, device)
    dtype = torch.bfloat16 if stub else dtype_for(device)
    with quiet():
        for row in measure(shapes, device, dtype, kernels, lambda *names: teller.wants(item_of(*names))):
            teller.row(row_of(row, stub))
