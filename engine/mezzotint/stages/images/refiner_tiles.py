"""A conditional refiner at sizes beyond its own: predictions of overlapping tiles, blended in each step.

Each tile has positions of its own and is given its part of the smaller image. Samplers are linear in the prediction, so
blending predictions blends what the tiles become, as in MultiDiffusion (arXiv 2302.08113); no edge is ever made.
"""

from dataclasses import replace

import torch
from torch.nn import functional

from mezzotint.errors import Cancelled
from mezzotint.families.family import Conditioning, Family, LoadedModel
from mezzotint.memory.tiling import in_tiles
from mezzotint.protocol import IsCancelled
from mezzotint.request_protocol import REFINE_SCALE
from mezzotint.stages.images.low_resolution import LowResolution

_SCALE = round(REFINE_SCALE)  # latents along a side for each of the smaller image


def predict_in_tiles(
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
    """The guided output for a sample `(n, c, h, w)` of even sides, in tiles of `tile` latents along a side.

    `conditioning` is that without the smaller images. Raises Cancelled between two tiles.
    """
    small = (sample.shape[2] // _SCALE, sample.shape[3] // _SCALE)
    given = functional.interpolate(smaller.latents.to(sample), size=small, mode="bilinear")
    channels = given.shape[1]

    def predict(part: torch.Tensor) -> torch.Tensor:
        if cancelled():
            raise Cancelled("stopped between two tiles of a step")
        its = replace(smaller, latents=part[:, :channels])
        latents = functional.pixel_shuffle(part[:, channels:], _SCALE)
        return family.predict(model, latents, timestep, its.add_to(conditioning, model.dtype))

    both = torch.cat([given, functional.pixel_unshuffle(sample, _SCALE)], dim=1)  # cut at the same places
    return in_tiles(predict, both, tile // _SCALE, takes=1, gives=_SCALE)
