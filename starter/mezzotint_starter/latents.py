"""Training images as latents, encoded once and cached."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch
from diffusers import AutoencoderKL
from torch import Tensor

from mezzotint.benchmarks.postcards.world import Scene, training_scene
from mezzotint.training.distributed import Processes
from mezzotint_starter.autoencoder import encode_scenes
from mezzotint_starter.progress import Progress
from mezzotint_starter.state import load_tensors, save_tensors

CHUNK = 32


def training_latents(
    network: AutoencoderKL, path: Path, *, seed: int, count: int, side: int, device: str, parts: int = 1
) -> Tensor:
    """Return the latents (count, 4, side/8, side/8) of training scenes 0..count-1, cached for this autoencoder."""
    numbers = {"seed": seed, "count": count, "side": side}
    return scene_latents(network, path, numbers, partial(training_scene, seed), device=device, parts=parts)


def scene_latents(
    network: AutoencoderKL,
    path: Path,
    numbers: Mapping[str, Any],
    scene_at: Callable[[int], Scene],
    *,
    device: str,
    parts: int = 1,
) -> Tensor:
    """Return the latents of scenes 0..count-1; `numbers` (count, side and others) identify them in the cache.

    With `reduced` among them, images are painted at `side` and then divided by it.
    """
    numbers = {**numbers, "autoencoder": fingerprint(network)}
    with Processes.of_environment().after_the_first():
        cached = load_tensors(path)
        if cached is not None and cached[1] == numbers:
            return cached[0]["latents"]
        latents = _encode_all(network, numbers, scene_at, device=device, parts=parts)
        save_tensors(path, {"latents": latents}, numbers)
        return latents


def fingerprint(network: AutoencoderKL) -> float:
    """Return a number that changes with the encoder's weights, to validate the cache."""
    weight: Tensor = network.encoder.conv_out.weight
    return float(weight.detach().double().abs().sum())


def _encode_all(
    network: AutoencoderKL, numbers: Mapping[str, Any], scene_at: Callable[[int], Scene], *, device: str, parts: int
) -> Tensor:
    count, side = numbers["count"], numbers["side"]
    starts = range(0, count, CHUNK)
    progress, chunks = Progress(f"latents of {side}x{side}", len(starts)), []

    def encode(start: int) -> Tensor:
        scenes = [scene_at(index) for index in range(start, min(start + CHUNK, count))]
        return encode_scenes(network, scenes, device, side, numbers.get("reduced", 1))

    with ThreadPoolExecutor(parts) as pool:
        for number, chunk in enumerate(pool.map(encode, starts)):
            chunks.append(chunk)
            progress.advance(number, 0.0)
    return torch.cat(chunks)
