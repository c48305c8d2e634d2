"""The tiles that large images are denoised in: how large they are, and which stages have them.

Only stages that start from an image have them: what is seen in a tile is then there already, and not made up anew in
each. They are about as large as the images that the model was made for, smaller where memory is short.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from mezzotint.errors import UsageError
from mezzotint.families.detected import Detected
from mezzotint.memory.planning.denoise_tiles import CHOICES, auto_tile, is_tiled
from mezzotint.memory.planning.phases import tiles_along
from mezzotint.protocol import GenerateRequest, Sampling
from mezzotint.values.sizes import AUTO_TILE

if TYPE_CHECKING:
    from mezzotint.stages.setup import CascadeSetup, StageSetup

Size = tuple[int, int]


def settled_tile(sampling: Sampling, found: Detected) -> int | None:
    """The requested side in pixels, with what auto takes at first; None: off."""
    asked = sampling.denoise_tile
    return auto_tile(_own(found)) if asked == AUTO_TILE else asked


def stage_tile(sampling: Sampling, found: Detected, size: Size, multiple: int) -> int:
    """Side in pixels of the tiles of a stage that starts from an image; 0: the whole image at once.

    Raises UsageError for tiles that the model cannot take.
    """
    side = settled_tile(sampling, found) or 0
    if not is_tiled(size, side):
        return 0
    if side % multiple:
        raise UsageError(
            f"tiles of {side} pixels are not supported: this model needs multiples of {multiple}, such as "
            f"{max(1, round(side / multiple)) * multiple}"
        )
    return side


def check_tiled(sampling: Sampling, tile: int, found: Detected) -> None:
    """Raise UsageError for options that tiles exclude."""
    if tile and sampling.step_cache and not found.conditional_refiner:
        raise UsageError("--step-cache keeps results for each tile of --denoise-tile: leave one of them out")


def seen_size(size: Size, tile: int) -> Size:
    """What a denoiser sees at once of an image of a size; a tile of 0 is the whole image."""
    return (min(size[0], tile), min(size[1], tile)) if tile else size


def tile_choices(request: GenerateRequest, setup: "CascadeSetup") -> "tuple[CascadeSetup, ...]":
    """The cascade with each size of tiles that auto chooses among, the largest first; itself if there is no choice."""
    asked = [stage.sampling.denoise_tile == AUTO_TILE for stage in request.cascade.stages]
    if not any(auto and stage.tile for auto, stage in zip(asked, setup.stages, strict=True)):
        return (setup,)
    return tuple(_with_choice(setup, asked, choice) for choice in CHOICES)


def with_tiles_of(setup: "CascadeSetup", other: "CascadeSetup") -> "CascadeSetup":
    """The cascade with the tiles of another of the same stages."""
    return replace(setup, stages=tuple(map(_with_tile_of, setup.stages, other.stages)))


def denoise_tiles_notice(stage: "StageSetup") -> str:
    """What is told of a stage with tiles."""
    count = math.prod(tiles_along(side, stage.tile) for side in (stage.width, stage.height))
    return (
        f"{stage.width}x{stage.height} is denoised in {count} overlapping tiles of {stage.tile}x{stage.tile}, all of "
        "them in each step"
    )


def _own(found: Detected) -> Size:
    return found.defaults.width, found.defaults.height


def _with_choice(setup: "CascadeSetup", asked: list[bool], choice: int) -> "CascadeSetup":
    stages = zip(asked, setup.stages, strict=True)
    return replace(setup, stages=tuple(_chosen(stage, choice) if auto else stage for auto, stage in stages))


def _chosen(stage: "StageSetup", choice: int) -> "StageSetup":
    found = stage.found.detected
    side = auto_tile(_own(found), choice)
    tile = side if stage.tile and not found.conditional_refiner else stage.tile
    return replace(stage, tile=tile, sampling=replace(stage.sampling, denoise_tile=side))


def _with_tile_of(stage: "StageSetup", other: "StageSetup") -> "StageSetup":
    sampling = replace(stage.sampling, denoise_tile=other.sampling.denoise_tile)
    return replace(stage, tile=other.tile, sampling=sampling)
