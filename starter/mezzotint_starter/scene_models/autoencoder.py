"""Train the autoencoder of composed scenes: on crops at things first, on larger crops and whole images last."""

import json
import logging
import math
import time
from collections.abc import Iterable
from pathlib import Path

import torch
from diffusers import AutoencoderKL
from PIL.Image import Image
from torch import Tensor
from torch.nn import functional

from mezzotint.benchmarks.postcards.contact_sheet import contact_sheet
from mezzotint_starter.autoencoder import EDGE_WEIGHT, KL_WEIGHT, fold_normalization, image_error
from mezzotint_starter.randomness import step_generator, step_random
from mezzotint_starter.scene_models.crops import crop_batch
from mezzotint_starter.scene_models.networks import CHANNELS, FACTOR, IMAGE_SIDE
from mezzotint_starter.scene_models.source import SceneSource, image_tensor
from mezzotint_starter.scene_models.views import image_of
from mezzotint_starter.scenes.painting import Box
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train

LOG = logging.getLogger("mezzotint_starter")
PHASE = "autoencoder"
BATCH = 16
SMALL = 64
# Crops see other statistics in normalization layers than whole images, to which the network is accustomed at the end.
LARGE_SHARE = 0.3
LARGE = ((128, 4), (128, 4), (IMAGE_SIDE, 1))  # side and number of the crops of a step, in turn
_CROPS_OF_A_SCENE = 4
# Hues vary less than lightness, and small things would lose theirs.
COLOUR_WEIGHT = 1.0


def train_autoencoder(
    network: AutoencoderKL,
    source: SceneSource,
    work: Path,
    *,
    steps: int,
    device: str,
    parts: int = 1,
    measured: int = 256,
    rate: float = 8e-4,
    report_minutes: float = 30.0,
) -> None:
    """Run the phase; leaves averaged weights, and latents normalized over `measured` images."""
    schedule = TrainingSchedule(phase=PHASE, steps=steps, peak_lr=rate, parts=parts, ema_decay=0.999)
    trainer = Trainer(network.to(device).train(), schedule)
    report = _Report(network, source, work, device=device, minutes=report_minutes)

    def loss_at(step: int, shard: slice) -> Tensor:
        images = step_images(source, step, steps)
        shape = CHANNELS, images.shape[-2] // FACTOR, images.shape[-1] // FACTOR
        noise = torch.randn(len(images), *shape, generator=step_generator(source.seed, PHASE, step))
        return reconstruction_loss(network, images[shard].to(device), noise[shard].to(device))

    train(trainer, work / f"{PHASE}.safetensors", loss_at, lambda: report.after(trainer))
    network.eval()
    scenes = (source.training(index) for index in range(measured))
    fold_normalization(network, torch.stack([encoded(network, source.painter.paint(each), device) for each in scenes]))


def step_images(source: SceneSource, step: int, steps: int) -> Tensor:
    """Return the images (b, 3, h, w) of one step of so many."""
    side, count = LARGE[step % len(LARGE)] if step >= steps * (1 - LARGE_SHARE) else (SMALL, BATCH)
    rng = step_random(source.seed, PHASE, step)
    images = crop_batch(source, rng, side=side, count=count, each=_CROPS_OF_A_SCENE if side == SMALL else 1)
    return images.contiguous(memory_format=torch.channels_last)


def reconstruction_loss(network: AutoencoderKL, images: Tensor, noise: Tensor) -> Tensor:
    """Return the reconstruction error plus a small KL term that pulls the latents towards the standard normal."""
    posterior = network.encode(images).latent_dist
    again = network.decode(posterior.mean + posterior.std * noise).sample
    divergence: Tensor = posterior.kl().mean() / posterior.mean[0].numel()
    error = image_error(again, images, edge_weight=EDGE_WEIGHT)
    return error + COLOUR_WEIGHT * colour_error(again, images) + KL_WEIGHT * divergence


def colour_error(again: Tensor, images: Tensor) -> Tensor:
    """Return the absolute and squared error of images (b, 3, h, w) apart from that of their lightness."""
    error = again - images
    error = error - error.mean(dim=1, keepdim=True)
    return error.abs().mean() + error.square().mean()


@torch.no_grad()
def encoded(network: AutoencoderKL, image: Image, device: str) -> Tensor:
    """Return the latent (8, h/8, w/8) of an image, on the CPU."""
    latent: Tensor = network.encode(image_tensor(image)[None].to(device)).latent_dist.mean[0]
    return latent.cpu()


@torch.no_grad()
def reconstructions(network: AutoencoderKL, source: SceneSource, indices: Iterable[int], device: str) -> list[Tensor]:
    """Return the held-out scenes' images as the network gives them again, (3, 256, 256) each."""
    again = []
    for index in indices:
        latent = encoded(network, source.painter.paint(source.judging(index)), device)
        again.append(network.decode(latent[None].to(device)).sample[0].clamp(-1, 1).cpu())
    return again


def psnr_of_things(source: SceneSource, again: Iterable[Tensor]) -> tuple[float, float]:
    """Return the PSNR in dB over whole held-out images, and over the boxes of their things alone."""
    whole, inside = [], []
    for index, made in enumerate(again):
        image, boxes = source.painter.painted(source.judging(index))
        wanted = image_tensor(image)
        whole.append(functional.mse_loss(made, wanted).item())
        inside += [functional.mse_loss(_part(made, box), _part(wanted, box)).item() for box in boxes]
    return _decibels(whole), _decibels(inside)


def _part(pixels: Tensor, box: Box) -> Tensor:
    top, left = max(0, box.top), max(0, box.left)
    return pixels[:, top : box.top + box.height, left : box.left + box.width]


def _decibels(errors: list[float]) -> float:
    return 10 * math.log10(4 / max(sum(errors) / len(errors), 1e-12))


class _Report:
    """Measures the averaged weights on held-out scenes now and then: a line in a log, and a sheet."""

    def __init__(
        self, network: AutoencoderKL, source: SceneSource, work: Path, *, device: str, minutes: float, count: int = 24
    ) -> None:
        self._network, self._source, self._work, self._device = network, source, work, device
        self._minutes, self._count, self._told = minutes, count, time.monotonic()

    def after(self, trainer: Trainer) -> None:
        """Measure if it is time; call after each step."""
        if not trainer.processes.is_first or time.monotonic() - self._told < self._minutes * 60:
            return
        trainer.swap_averages()
        again = reconstructions(self._network, self._source, range(self._count), self._device)
        trainer.swap_averages()
        whole, things = psnr_of_things(self._source, again)
        LOG.info("%s at step %d: %.2f dB, %.2f dB of things", PHASE, trainer.step, whole, things)
        line = {"step": trainer.step, "psnr": round(whole, 3), "psnr_of_things": round(things, 3)}
        with open(self._work / f"{PHASE}.jsonl", "a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
        self._save_sheet(again, trainer.step)
        self._told = time.monotonic()

    def _save_sheet(self, again: list[Tensor], step: int) -> None:
        drawn = [self._source.painter.paint(self._source.judging(index)) for index in range(12)]
        pairs = [image for pair in zip(drawn, map(image_of, again[:12]), strict=True) for image in pair]
        folder = self._work / "sheets"
        folder.mkdir(parents=True, exist_ok=True)
        contact_sheet(pairs).save(folder / f"{PHASE}-{step:06}.png")
