"""Writes delta files."""

import json
from collections.abc import Container, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mezzotint.atomic import atomic_write
from mezzotint.checkpoints.delta.layout import FACTORS, SCALE, TAKEN, TRUNK
from mezzotint.checkpoints.write import serialized, writing

if TYPE_CHECKING:
    import torch

_LEAST_CODED = 4096  # numbers; smaller tensors are stored as float16
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_LEAST_SCALE = 1e-30  # instead of the scale of a row of zeros


def write_delta(
    path: Path,
    *,
    own: "Mapping[str, torch.Tensor]",
    trunk: str = "",
    taken: Mapping[str, str] = _NOTHING,
    low_rank: "Mapping[str, tuple[torch.Tensor, torch.Tensor]]" = _NOTHING,
    exact: Container[str] = (),
) -> None:
    """Write a delta file; complete or absent. Raises StorageError.

    `own`: whole tensors, in 8 bits unless they are small or in `exact`, then in 16; `trunk`: FOLDER/COMPONENT that the
    others are in; `taken`: their names there, by name; `low_rank`: factors (out, r) and (r, in) whose product is added
    to one of them, in 8 bits by component of the product.
    """
    tensors: dict[str, torch.Tensor] = {}
    for name, tensor in own.items():
        is_coded = name not in exact and tensor.ndim > 1 and tensor.numel() >= _LEAST_CODED
        tensors |= _encoded(name, tensor) if is_coded else {name: tensor.half()}
    for name, (up, down) in low_rank.items():
        tensors |= dict(zip((name + suffix for suffix in FACTORS), _coded_product(up, down), strict=True))
    listed = [name if name == theirs else f"{name}={theirs}" for name, theirs in taken.items()]
    metadata = {"format": "pt", TAKEN: json.dumps(listed), **({TRUNK: trunk} if trunk else {})}
    with writing(path):
        atomic_write(path, serialized(tensors, metadata), overwrite=True)


def _encoded(name: str, tensor: "torch.Tensor") -> "dict[str, torch.Tensor]":
    codes, scale = _coded(tensor.float().flatten(1))
    return {name: codes.view(tensor.shape), name + SCALE: scale}


def _coded_product(up: "torch.Tensor", down: "torch.Tensor") -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor]":
    columns, column_scale = _coded(up.float().T)
    rows, row_scale = _coded(down.float())
    return columns.T.contiguous(), column_scale * row_scale, rows


def _coded(rows: "torch.Tensor") -> "tuple[torch.Tensor, torch.Tensor]":
    """Int8 codes of rows (n, k), and the scale of each row (n,)."""
    scale = rows.abs().amax(1) / 127
    return (rows / scale.clamp(min=_LEAST_SCALE)[:, None]).round().char(), scale
