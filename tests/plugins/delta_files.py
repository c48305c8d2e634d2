"""A model folder, and one beside it whose transformer is a delta file built on the first one's."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from mezzotint.checkpoints.delta.layout import TAKEN, TRUNK

PLACE = "dit/transformer"
NAME = "transformer/diffusion_pytorch_model.safetensors"


def trunk_tensors() -> dict[str, Tensor]:
    """The tensors of the trunk."""
    torch.manual_seed(0)
    return {
        "a.weight": torch.randn(6, 4).half(),
        "b.weight": torch.randn(6, 4, 1, 1),
        "c.bias": torch.randn(6).bfloat16(),
        "d": torch.ones(3, dtype=torch.int32),
    }


def write_trunk(home: Path) -> Path:
    """Write the trunk's file below `home`."""
    return written(home / "dit" / NAME, trunk_tensors())


def delta_tensors() -> dict[str, Tensor]:
    """The tensors of a proper delta file: one of its own, one in 8 bits, and a product of rank 2 for `x.weight`."""
    torch.manual_seed(1)
    return {
        "own": torch.randn(3),
        "coded": torch.randint(-127, 128, (5, 2, 3)).char(),
        "coded.scale": torch.rand(5),
        "x.weight.lora_B": torch.randint(-127, 128, (6, 2)).char(),
        "x.weight.lora_scale": torch.rand(2) / 1000,
        "x.weight.lora_A": torch.randint(-127, 128, (2, 4)).char(),
    }


def proper_metadata() -> dict[str, str]:
    """What such a file says."""
    return {TRUNK: PLACE, TAKEN: json.dumps(["x.weight=a.weight", "b.weight", "c.bias"])}


def write_proper(home: Path, tensors: Any = None, metadata: Any = None, name: str = "fast") -> Path:
    """Write a trunk and a delta file below `home`, with other tensors or metadata where given; None leaves one out."""
    write_trunk(home)
    changed = {key: each for key, each in (delta_tensors() | (tensors or {})).items() if each is not None}
    said = {key: each for key, each in (proper_metadata() | (metadata or {})).items() if each is not None}
    return written(home / name / NAME, changed, said)


def written(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> Path:
    """Write a file and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, metadata)
    return path
