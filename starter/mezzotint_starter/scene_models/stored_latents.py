"""Latents of training scenes in files of a few hundred each, float16, read from disk as they are needed."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers import AutoencoderKL
from numpy.typing import NDArray
from torch import Tensor

from mezzotint.training.distributed import Processes
from mezzotint_starter.latents import fingerprint
from mezzotint_starter.progress import Progress
from mezzotint_starter.scene_models.networks import CHANNELS, FACTOR
from mezzotint_starter.scene_models.source import SceneSource, image_tensor
from mezzotint_starter.state import write_json

FILE_COUNT = 512
_AT_ONCE = 8
_NUMBERS = "latents.json"


class StoredLatents:
    """Latents (n, c, h, w), indexed by a tensor of numbers."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._parts: list[NDArray[np.float16]] = [np.load(file, mmap_mode="r") for file in files]
        self._starts = np.cumsum([0, *(len(part) for part in self._parts)])

    @property
    def shape(self) -> tuple[int, ...]:
        """Number, channels, height and width."""
        return int(self._starts[-1]), *self._parts[0].shape[1:]

    def __getitem__(self, chosen: Tensor) -> Tensor:
        """Return the chosen ones, float16."""
        return torch.from_numpy(np.stack([self._one(int(index)) for index in chosen]))

    def _one(self, index: int) -> NDArray[np.float16]:
        part = int(np.searchsorted(self._starts, index, side="right")) - 1
        return np.asarray(self._parts[part][index - self._starts[part]])


def stored_latents(
    network: AutoencoderKL, source: SceneSource, folder: Path, *, count: int, side: int, device: str
) -> StoredLatents:
    """Return the latents of training scenes 0..count-1, encoding those that are not in the folder yet.

    The folder belongs to one encoder, seed and size; with another it is begun anew.
    """
    with Processes.of_environment().after_the_first():
        _prepare(folder, {"autoencoder": fingerprint(network), "seed": source.seed, "side": side})
        starts = range(0, count, FILE_COUNT)
        files = [folder / f"{start:07}-{min(FILE_COUNT, count - start)}.npy" for start in starts]
        progress = Progress(f"latents of {side}x{side}", len(files))
        for number, (start, file) in enumerate(zip(starts, files, strict=True)):
            if not file.exists():
                indices = range(start, min(start + FILE_COUNT, count))
                _save(file, _encoded(network, source, indices, side, device))
            progress.advance(number, 0.0)
    return StoredLatents(files)


def _prepare(folder: Path, numbers: dict[str, Any]) -> None:
    kept = folder / _NUMBERS
    if kept.exists() and json.loads(kept.read_text("utf-8")) == numbers:
        return
    shutil.rmtree(folder, ignore_errors=True)
    write_json(kept, numbers)


@torch.no_grad()
def _encoded(network: AutoencoderKL, source: SceneSource, indices: range, side: int, device: str) -> Tensor:
    latents = torch.empty(len(indices), CHANNELS, side // FACTOR, side // FACTOR, dtype=torch.float16)
    for at in range(0, len(indices), _AT_ONCE):
        scenes = [source.training(index) for index in indices[at : at + _AT_ONCE]]
        images = torch.stack([image_tensor(source.painter.paint(scene, side)) for scene in scenes])
        images = images.to(device, memory_format=torch.channels_last)
        latents[at : at + len(scenes)] = network.encode(images).latent_dist.mean.half().cpu()
    return latents


def _save(file: Path, latents: Tensor) -> None:
    fresh = file.with_name(file.name + ".part")
    with open(fresh, "wb") as opened:
        np.save(opened, latents.numpy())
    fresh.replace(file)
