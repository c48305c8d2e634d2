"""Predictions for images larger than a model is made for: of overlapping tiles, blended in each step.

Each tile is an image of its own, with the whole prompt, positions of its own and its part of the control images, of the
masked image or of a refiner's smaller image. Samplers are linear in the prediction, so blending predictions blends what
the tiles become, as in MultiDiffusion (arXiv 2302.08113); no edge is ever made.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch.nn import functional

from mezzotint.errors import Cancelled
from mezzotint.families.architectures.table import LOW_RESOLUTION
from mezzotint.families.family import Conditioning, Family, LoadedModel
from mezzotint.memory.tiling import TileWindow, in_windows
from mezzotint.protocol import IsCancelled
from mezzotint.request_protocol import REFINE_SCALE
from mezzotint.stages.images.low_resolution import LowResolution

_MASKED = ("masked", "mask")  # the names of MaskedImage; without the first, the second is one of words
_REFINED = round(REFINE_SCALE)  # latents along a side for each of the smaller image


def predict_in_tiles(
    family: Family,
    model: LoadedModel,
    sample: torch.Tensor,
    timestep: torch.Tensor,
    conditioning: Conditioning,
    *,
    tile: int,
    cancelled: IsCancelled,
) -> torch.Tensor:
    """The guided output for a sample `(n, c, h, w)`, in tiles of `tile` latents along a side.

    Raises Cancelled between two tiles.
    """
    tensors, width = conditioning.tensors, sample.shape[-1]
    names = [*(_MASKED if _MASKED[0] in tensors else ()), *_images(conditioning)]
    parts = {name: tensors[name].shape[-1] // width for name in names}
    return _in_tiles(family, model, sample, timestep, conditioning, tile=tile, parts=parts, cancelled=cancelled)


def _images(conditioning: Conditioning) -> list[str]:
    """The names of control images, and of masks of image prompts; what these have become themselves is no image."""
    shown = [control.tensor for control in conditioning.controls if control.is_shown_each_step]
    return [*shown, *(control.mask for control in conditioning.controls if control.mask is not None)]


def refine_in_tiles(
    family: Family,
    model: LoadedModel,
    sample: torch.Tensor,
    timestep: torch.Tensor,
    conditioning: Conditioning,
    *,
    smaller: LowResolution,
    tile: int,
    cancelled: IsCancelled,
) -> torch.Tensor:
    """The same of a conditional refiner, for a sample of even sides; `conditioning` is without the smaller images."""
    size = (sample.shape[2] // _REFINED, sample.shape[3] // _REFINED)
    latents = functional.interpolate(smaller.latents.to(sample), size=size, mode="bilinear")
    given = replace(smaller, latents=latents).add_to(conditioning, model.dtype)
    parts = {LOW_RESOLUTION[0]: 1}
    return _in_tiles(
        family, model, sample, timestep, given, tile=tile // _REFINED, parts=parts, cancelled=cancelled, unit=_REFINED
    )


def _in_tiles(
    family: Family,
    model: LoadedModel,
    sample: torch.Tensor,
    timestep: torch.Tensor,
    conditioning: Conditioning,
    *,
    tile: int,
    parts: Mapping[str, int],
    cancelled: IsCancelled,
    unit: int = 1,
) -> torch.Tensor:
    """Predict tiles of a grid with `unit` latents in a unit; `parts`: pixels in one, of the tensors that are cut."""

    def predict(window: TileWindow) -> torch.Tensor:
        if cancelled():
            raise Cancelled("stopped between two tiles of a step")
        cut = {name: window.cut(each, parts[name]) for name, each in conditioning.tensors.items() if name in parts}
        its = {name: each.to(sample.device) for name, each in cut.items()}  # control images wait in RAM
        part = replace(conditioning, tensors={**conditioning.tensors, **its})
        return family.predict(model, window.cut(sample, unit), timestep, part)

    size = (sample.shape[2] // unit, sample.shape[3] // unit)
    return in_windows(predict, size, tile, gives=unit)
