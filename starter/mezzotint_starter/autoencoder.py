"""Train the autoencoder: on crops first, on whole images last, then normalize latents to mean 0, deviation 1."""

import math
import random
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL
from torch import Tensor
from torch.nn import functional

from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.world import Scene, judging_scene, training_scene
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.randomness import step_generator, step_random
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train

PHASE = "autoencoder"
CROP = 64
CROPS_A_IMAGE = 2
BATCH = 16
WHOLE_SHARE = 0.25
KL_WEIGHT = 1e-3
EDGE_WEIGHT = 0.5


def image_tensor(scene: Scene, side: int = IMAGE_SIDE) -> Tensor:
    """Return the scene's image, (3, side, side), in -1 to 1."""
    pixels = torch.from_numpy(np.array(paint(scene, side)))
    return pixels.permute(2, 0, 1).float() / 127.5 - 1


def train_autoencoder(
    network: AutoencoderKL,
    work: Path,
    *,
    seed: int,
    steps: int,
    device: str,
    parts: int = 1,
    measured: int = 256,
    rate: float = 8e-4,
) -> None:
    """Run the phase; leaves the network with averaged weights, its latents normalized over `measured` images."""
    schedule = TrainingSchedule(phase=PHASE, steps=steps, peak_lr=rate, parts=parts)
    trainer = Trainer(network.to(device).train(), schedule)

    def loss_at(step: int, shard: slice) -> Tensor:
        images = draw_batch(seed, step, whole=step >= steps * (1 - WHOLE_SHARE))
        noise = torch.randn(len(images), *latent_shape(images), generator=step_generator(seed, PHASE, step))
        return reconstruction_loss(network, images[shard].to(device), noise[shard].to(device))

    train(trainer, work / "autoencoder.safetensors", loss_at)
    normalize_latents(network.eval(), seed=seed, device=device, images=measured)


def draw_batch(seed: int, step: int, *, whole: bool) -> Tensor:
    """Return the images of one step: crops of new scenes, or a quarter as many whole images."""
    rng = step_random(seed, PHASE, step)
    if whole:
        return torch.stack([_random_image(seed, rng) for _ in range(BATCH // 4)])
    crops = []
    for _ in range(BATCH // CROPS_A_IMAGE):
        image = _random_image(seed, rng)
        crops += [_random_crop(image, rng) for _ in range(CROPS_A_IMAGE)]
    return torch.stack(crops)


def _random_image(seed: int, rng: random.Random) -> Tensor:
    return image_tensor(training_scene(seed, rng.getrandbits(40)))


def _random_crop(image: Tensor, rng: random.Random) -> Tensor:
    top, left = (rng.randrange(side - CROP + 1) for side in image.shape[1:])
    return image[:, top : top + CROP, left : left + CROP]


def latent_shape(images: Tensor) -> tuple[int, int, int]:
    """Return the latent shape of one image."""
    return 4, images.shape[-2] // 8, images.shape[-1] // 8


def reconstruction_loss(network: AutoencoderKL, images: Tensor, noise: Tensor) -> Tensor:
    """Return the reconstruction error plus a small KL term that pulls the latents towards the standard normal."""
    posterior = network.encode(images).latent_dist
    again = network.decode(posterior.mean + posterior.std * noise).sample
    divergence: Tensor = posterior.kl().mean() / posterior.mean[0].numel()
    return image_error(again, images, edge_weight=EDGE_WEIGHT) + KL_WEIGHT * divergence


def image_error(again: Tensor, images: Tensor, *, edge_weight: float) -> Tensor:
    """Return the absolute and squared error of images (b, 3, h, w) plus the weighted error of their edges."""
    error = again - images
    edges = error.diff(dim=-1).abs().mean() + error.diff(dim=-2).abs().mean()
    return error.abs().mean() + error.square().mean() + edge_weight * edges


@torch.no_grad()
def normalize_latents(network: AutoencoderKL, *, seed: int, device: str, images: int = 256) -> None:
    """Fold mean and deviation of each latent channel into the adjacent 1x1 convolutions: scaling_factor stays 1."""
    scenes = [training_scene(seed, index) for index in range(images)]
    fold_normalization(
        network, torch.cat([encode_scenes(network, scenes[at : at + 32], device) for at in range(0, images, 32)])
    )


@torch.no_grad()
def fold_normalization(network: AutoencoderKL, latents: Tensor) -> None:
    """Fold mean and deviation of each channel of the latents (b, c, h, w) into the adjacent 1x1 convolutions."""
    before, after, channels = network.quant_conv, network.post_quant_conv, latents.shape[1]
    mean, deviation = (each.to(after.weight.device) for each in (latents.mean((0, 2, 3)), latents.std((0, 2, 3))))
    after.bias += (after.weight * mean.view(1, -1, 1, 1)).sum(dim=(1, 2, 3))
    after.weight *= deviation.view(1, -1, 1, 1)
    before.weight[:channels] /= deviation.view(-1, 1, 1, 1)
    before.bias[:channels] = (before.bias[:channels] - mean) / deviation
    before.bias[channels:] -= 2 * deviation.log()


@torch.no_grad()
def encode_scenes(
    network: AutoencoderKL, scenes: list[Scene], device: str, side: int = IMAGE_SIDE, reduced: int = 1
) -> Tensor:
    """Return the latents (b, 4, side/8, side/8) of the scenes' images, on the CPU; `reduced`: divides the images."""
    images = torch.stack([image_tensor(scene, side) for scene in scenes]).to(device)
    images = functional.avg_pool2d(images, reduced)
    latents: Tensor = network.encode(images).latent_dist.mean
    return latents.cpu()


@torch.no_grad()
def reconstruction_psnr(network: AutoencoderKL, *, seed: int, device: str, images: int = 64) -> float:
    """Return the reconstruction PSNR in dB over whole images of held-out scenes."""
    drawn = torch.stack([image_tensor(judging_scene(seed, index)) for index in range(images)]).to(device)
    again = network.decode(network.encode(drawn).latent_dist.mean).sample.clamp(-1, 1)
    error = functional.mse_loss(again, drawn).item()
    return 10 * math.log10(4 / max(error, 1e-12))
