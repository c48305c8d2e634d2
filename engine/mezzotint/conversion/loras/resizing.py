"""Reduces the ranks of a LoRA."""

from collections.abc import Callable
from pathlib import Path

import torch

from mezzotint.conversion.loras.rewriting import Rewriting, WrittenLora, check_known, dtype_of, kept_metadata
from mezzotint.families.lora.factors import check_plain, read_factors
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.low_rank import truncated
from mezzotint.families.lora.writing import check_output


def resize_lora(
    path: Path,
    output: Path,
    *,
    rank: int | None = None,
    keep: float = 1.0,
    dtype: torch.dtype | None = None,
    on_layer: Callable[[int, int], None] = lambda _, __: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> WrittenLora:
    """Write the LoRA with at most that rank; without one, each layer with the lowest that keeps a share of its energy.

    `on_layer(done, total)` tells the progress. Raises ModelRefused for files that are no plain LoRA, UsageError if the
    output exists, Cancelled between layers.
    """
    check_output(output)
    file = open_lora(path)
    check_plain(file)
    check_known(file)
    rewriting = Rewriting(dtype=dtype or dtype_of([file]))
    for done, layer in enumerate(file.layers, 1):
        found = truncated(read_factors(file, layer, cancelled), rank=rank, keep=keep)
        rewriting.add(layer, found.factors)
        rewriting.energy += found.energy
        rewriting.kept += found.kept
        on_layer(done, len(file.layers))
    return rewriting.write(output, kept_metadata(file))
