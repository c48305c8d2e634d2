"""Latents of the scenes before and after each training edit, encoded once and cached."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diffusers import AutoencoderKL
from torch import Tensor

from mezzotint.benchmarks.postcards.edits import training_edit
from mezzotint.benchmarks.postcards.world import Scene
from mezzotint_starter.latents import scene_latents


@dataclass(frozen=True, slots=True, kw_only=True)
class EditLatents:
    """Latents (n, 4, h, w) of the scenes before and after training edits 0..n-1."""

    before: Tensor
    after: Tensor


def edit_latents(
    network: AutoencoderKL, folder: Path, *, seed: int, count: int, side: int, device: str, parts: int = 1
) -> EditLatents:
    """Return the latents of `count` edits at a side in pixels, cached in the folder for this autoencoder."""

    def latents(name: str, scene_at: Callable[[int], Scene]) -> Tensor:
        path = folder / f"latents-{name}-{side}.safetensors"
        numbers = {"seed": seed, "count": count, "side": side}
        return scene_latents(network, path, numbers, scene_at, device=device, parts=parts)

    return EditLatents(
        before=latents("before", lambda index: training_edit(seed, index).before),
        after=latents("after", lambda index: training_edit(seed, index).after),
    )
