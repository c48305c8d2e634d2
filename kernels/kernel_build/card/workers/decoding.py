"""Benchmark the decoder of SDXL's autoencoder by our GroupNorm and attention against diffusers'."""

from collections.abc import Sequence

import torch

from kernel_build.card import stub as stubs
from kernel_build.card.measured import item_of, row_of
from kernel_build.card.protocol import Teller
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.benchmarks.attention import dtype_for, quiet
from mezzotint.benchmarks.decoding import DECODER, measure_decoder
from mezzotint.dispatch.library import Unavailable, open_installed
from mezzotint.normalization.compiled import CompiledGroupNorm


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report one row per implementation."""
    del words
    device = torch.device("cpu" if stub else "cuda:0")
    try:
        norms = stubs.group_norm() if stub else CompiledGroupNorm(open_installed())
        attention = stubs.attention() if stub else CompiledAttention(open_installed())
    except Unavailable as error:
        raise SystemExit(f"our kernels cannot be measured: {error}") from error
    dtype = torch.bfloat16 if stub else dtype_for(device)

    def wanted(*names: str) -> bool:
        return teller.wants(item_of(*names))

    with quiet():
        decoder = DECODER.small() if stub else DECODER
        for row in measure_decoder(decoder, norms, attention, device, dtype, wanted):
            teller.row(row_of(row, stub))
