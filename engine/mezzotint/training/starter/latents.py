"""The training pictures as latents, encoded once: the transformer never sees a pixel."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from diffusers import AutoencoderKL
from torch import Tensor

from mezzotint.training.starter.autoencoder import encode_scenes
from mezzotint.training.starter.progress import Progress
from mezzotint.training.starter.state import load_tensors, save_tensors
from mezzotint.training.starter.world import training_scene

CHUNK = 32


def training_latents(
    network: AutoencoderKL, work: Path, *, seed: int, count: int, device: str, parts: int = 1
) -> Tensor:
    """The latents (count, 4, 16, 16) of training scenes 0..count-1, kept in a file for this autoencoder."""
    path = work / "latents.safetensors"
    numbers = {"seed": seed, "count": count, "autoencoder": fingerprint(network)}
    held = load_tensors(path)
    if held is not None and held[1] == numbers:
        return held[0]["latents"]
    latents = _encode_all(network, seed=seed, count=count, device=device, parts=parts)
    save_tensors(path, {"latents": latents}, numbers)
    return latents


def fingerprint(network: AutoencoderKL) -> float:
    """A number that changes with the encoder's weights."""
    weight: Tensor = network.encoder.conv_out.weight
    return float(weight.detach().double().abs().sum())


def _encode_all(network: AutoencoderKL, *, seed: int, count: int, device: str, parts: int) -> Tensor:
    starts = range(0, count, CHUNK)
    progress, chunks = Progress("latents", len(starts)), []

    def encode(start: int) -> Tensor:
        scenes = [training_scene(seed, index) for index in range(start, min(start + CHUNK, count))]
        return encode_scenes(network, scenes, device)

    with ThreadPoolExecutor(parts) as pool:
        for number, chunk in enumerate(pool.map(encode, starts)):
            chunks.append(chunk)
            progress.advance(number, 0.0)
    return torch.cat(chunks)
