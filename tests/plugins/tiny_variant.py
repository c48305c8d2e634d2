"""Tiny PixArt networks and folders with another architecture."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from mezzotint.families.architectures.dense_weights import load_dense
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel

CONFIG = {
    "num_attention_heads": 2,
    "attention_head_dim": 8,
    "num_layers": 6,
    "cross_attention_dim": 16,
    "caption_channels": 12,
    "sample_size": 8,
    "in_channels": 4,
    "out_channels": 4,
    "use_additional_conditions": False,
}


def variant_network(**architecture: str) -> Any:
    """A tiny network of an architecture with random weights, also where new layers begin with zeros."""
    torch.manual_seed(0)
    network = PixArtVariantTransformer2DModel.from_config(CONFIG | {"architecture": architecture})
    return shaken(network)


def shaken(network: Any) -> Any:
    """Change all weights a little."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) / 10)
    return network


def variant_inputs(rows: int = 2, sides: tuple[int, int] = (8, 12), **added: Tensor) -> dict[str, Any]:
    """Inputs of such a network; the first text is longer than the others."""
    generator = torch.Generator().manual_seed(1)
    mask = torch.ones(rows, 5)
    mask[1:, 3:] = 0
    return {
        "hidden_states": torch.randn(rows, 4, *sides, generator=generator),
        "encoder_hidden_states": torch.randn(rows, 5, 12, generator=generator),
        "encoder_attention_mask": mask,
        "timestep": torch.linspace(30, 700, rows),
        "added_cond_kwargs": {"resolution": None, "aspect_ratio": None, **added},
    }


def low_resolution(rows: int = 2, sides: tuple[int, int] = (4, 6)) -> dict[str, Tensor]:
    """What conditioned networks have as another input."""
    generator = torch.Generator().manual_seed(2)
    latents = torch.randn(rows, 4, *sides, generator=generator)
    return {"low_resolution": latents, "low_resolution_noise": torch.linspace(0, 300, rows)}


def write_tiny_variant(base: Path, folder: Path, architecture: Any) -> Path:
    """Copy a PixArt folder; its transformer becomes a variant with the same weights."""
    shutil.copytree(base, folder)
    name = "PixArtVariantTransformer2DModel"
    _change(folder / "model_index.json", transformer=["mezzotint", name])
    _change(folder / "transformer" / "config.json", _class_name=name, architecture=architecture)
    return folder


def write_changed_variant(base: Path, folder: Path, architecture: Any) -> Path:
    """Likewise, with the weights that fit, all of them changed, and random new ones."""
    write_tiny_variant(base, folder, architecture)
    network = PixArtVariantTransformer2DModel.from_config(
        json.loads((folder / "transformer" / "config.json").read_text("utf-8"))
    )
    (file,) = (folder / "transformer").glob("*.safetensors")
    load_dense(network, load_file(file))
    torch.manual_seed(3)
    save_file(shaken(network).state_dict(), file, metadata={"format": "pt"})
    return folder


def _change(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | values), encoding="utf-8")
