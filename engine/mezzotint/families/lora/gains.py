"""By how much a DoRA scales the rows or inputs of weights: its magnitudes over their norms (arXiv 2402.09353)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.lora.base_weights import Sources, base_weight
from mezzotint.families.lora.file import LoraLayer
from mezzotint.families.lora.matching import Target, rows_for
from mezzotint.quantization.dora import input_squares, row_squares
from mezzotint.quantization.lycoris import Update

Updates = Sequence[tuple[Target, Update]]


def gains(
    path: Path,
    layer: LoraLayer,
    magnitudes: Tensor,
    updates: Updates,
    networks: Mapping[str, nn.Module],
    sources: Sources,
    device: torch.device | None,
) -> list[Tensor]:
    """For each target of a DoRA's layer, `(n, 1)` for its rows or `(1, c)` for its inputs.

    `device` computes them; None: where the weights are. Raises ModelRefused if norms are of rows that the model lacks.
    """
    parts = [
        (base_weight(networks[target.component], target.name, sources(target.component), device), update)
        for target, update in updates
    ]
    if not layer.inputs:
        rows = [_rows(target, magnitudes.reshape(-1, 1)) for target, _ in updates]
        return [_over(each, row_squares(*part, device)) for each, part in zip(rows, parts, strict=True)]
    if sum(len(weight) for weight, _ in parts) != layer.shape[0]:
        raise ModelRefused(
            f"{plain(path, 300)}: '{plain(layer.layer, 80)}' rescales the inputs of a weight that the model has in "
            "part; use a LoRA that was made for this model"
        )
    squares = torch.stack([input_squares(*part, device) for part in parts]).sum(0)  # of all rows of a fused weight
    gain = _over(magnitudes.reshape(1, -1), squares)
    return [gain if layer.inputs > 1 else gain.expand(len(weight), 1) for weight, _ in parts]


def _rows(target: Target, magnitudes: Tensor) -> Tensor:
    select = rows_for(target)
    return magnitudes if select is None else select(magnitudes)


def _over(magnitudes: Tensor, squares: Tensor) -> Tensor:
    """Magnitudes over norms; 0 where a norm is 0, as then are all numbers that it is of."""
    norms = squares.sqrt()
    return torch.where(norms > 0, magnitudes.to(norms.device, torch.float32) / norms, 0.0)
