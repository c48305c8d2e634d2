"""The transition from one stage to the next."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from PIL import Image

from mezzotint.families.family import LoadedModel
from mezzotint.images.canvas import fit
from mezzotint.protocol import ResolvedTransition
from mezzotint.stages.denoise import Denoised
from mezzotint.stages.images.enlarged import Enlarging
from mezzotint.stages.schedule import StageSchedule, add_noise, carry_over, initial_noise
from mezzotint.stages.setup import StageSetup

_RESAMPLING = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
_MODES = {"nearest": "nearest-exact", "bilinear": "bilinear", "bicubic": "bicubic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThroughPixels:
    """Decode latents to an image and encode an image to latents, with a model's VAE."""

    to_image: Callable[[LoadedModel, torch.Tensor], Image.Image]
    to_latents: Callable[[LoadedModel, Image.Image, torch.Generator], torch.Tensor]
    enlarging: Enlarging


def apply_transition(
    transition: ResolvedTransition,
    done: Denoised,
    before: tuple[LoadedModel, StageSchedule],
    after: tuple[LoadedModel, StageSetup, StageSchedule],
    generator: torch.Generator,
    through_pixels: ThroughPixels,
) -> torch.Tensor:
    """Return the next stage's first latents `(1, c, h, w)`.

    At equal sizes the remaining noise is carried over. Otherwise the clean estimate is resized, and noise at the next
    stage's first level is added: upscaled noise is no longer white, so noise is never upscaled. A conditional refiner,
    which is given the clean estimate itself, starts from pure noise.
    """
    (model_before, schedule_before), (model_after, setup, schedule_after) = before, after
    factor = setup.sources.vae_factor
    size = (setup.height // factor, setup.width // factor)
    if transition.refines and transition.strength == 1:
        return initial_noise(schedule_after, (*done.clean.shape[:2], *size), generator, model_after.device)
    if transition.strength is None and done.latents.shape[-2:] == size:
        return carry_over(done.latents, schedule_before, schedule_after, generator)
    if transition.space == "pixel":
        image = through_pixels.to_image(model_before, done.clean)
        target, file = (setup.width, setup.height), transition.upscaler_file
        if file is None:
            image = fit(image, *target, _RESAMPLING[transition.upscaler])
        else:
            image = through_pixels.enlarging.fitted(image, target, file, model_after)
        clean = through_pixels.to_latents(model_after, image, generator)
    else:
        clean = resize_latents(done.clean, size, transition.upscaler)
    return add_noise(schedule_after, clean, generator)


def resize_latents(latents: torch.Tensor, size: tuple[int, int], upscaler: str) -> torch.Tensor:
    """Resize latents `(1, c, h, w)` to a size (h, w)."""
    if latents.shape[-2:] == size:
        return latents
    mode = _MODES[upscaler]
    corners = None if mode == "nearest-exact" else False
    return torch.nn.functional.interpolate(latents, size=size, mode=mode, align_corners=corners)
