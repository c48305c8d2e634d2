"""Where in a cascade a conditional refiner can be, decided before anything is loaded (arXiv 2106.15282)."""

import math
from collections.abc import Mapping, Sequence

from mezzotint.catalog.catalog import FoundModel
from mezzotint.errors import UsageError
from mezzotint.families.autoencoder_space import latent_space
from mezzotint.families.detected import Detected
from mezzotint.memory.planning.phases import tiles_along
from mezzotint.protocol import GenerateRequest, Transition
from mezzotint.request_protocol import REFINE_SCALE
from mezzotint.stages.images.request_images import RequestImages, Size
from mezzotint.stages.images.sizes import nearest_multiple

Config = Mapping[str, object]

_LARGER = 1.5  # times the refiner's own size along a side: beyond this it works in tiles
_PARTS = 4  # of a tile along a side, one of which overlaps


def check_refining(request: GenerateRequest, models: Sequence[FoundModel], images: RequestImages) -> None:
    """Raise UsageError for a conditional refiner without a smaller image, and for another model in its place."""
    if models[0].detected.conditional_refiner:
        _check_first(models[0].info.id, images)
    for found, transition in zip(models[1:], request.cascade.transitions, strict=True):
        _check_later(found, transition)
    noisy = any(stage.sampling.condition_noise is not None for stage in request.cascade.stages)
    if noisy and not any(found.detected.conditional_refiner for found in models):
        names = ", ".join(dict.fromkeys(found.info.id for found in models))
        raise UsageError(
            f"the condition noise is for conditional refiners, and {names} is none: leave --condition-noise out, or "
            "name a conditional refiner with --refine-with"
        )


def check_same_latents(before: str, ours: Config, refiner: str, its: Config) -> None:
    """Raise UsageError if a conditional refiner works on other latents than those of the stage before."""
    if latent_space(ours) != latent_space(its):
        raise UsageError(
            f"{refiner} refines latents of another kind than those of {before}: {_described(its)} instead of "
            f"{_described(ours)}; use a conditional refiner of the same kind of model"
        )


def enlarged_size(image: Size, multiple: int) -> Size:
    """The size at which a conditional refiner generates an existing image if none is requested."""
    width, height = (round(REFINE_SCALE * nearest_multiple(side, multiple)) for side in image)
    return width, height


def condition_size(size: Size, multiple: int) -> Size:
    """The size at which an image is given to a conditional refiner that generates it at `size`."""
    return nearest_multiple(size[0] / REFINE_SCALE, multiple), nearest_multiple(size[1] / REFINE_SCALE, multiple)


def refiner_tile(found: Detected, size: Size, multiple: int, vae_factor: int) -> int:
    """Side in pixels of the tiles in which a conditional refiner generates an image of this size; 0: all at once.

    Tiles are about as large as the images that it was made for, and begin where the smaller image has a latent.
    Raises UsageError if the image has latents of which that has none.
    """
    own = found.defaults.width, found.defaults.height
    if not found.conditional_refiner or all(side <= _LARGER * its for side, its in zip(size, own, strict=True)):
        return 0
    latent = round(REFINE_SCALE) * vae_factor
    if any(side % latent for side in size):
        raise UsageError(
            f"the size {size[0]}x{size[1]} is refined in tiles, as it is larger than {own[0]}x{own[1]}; then width and "
            f"height must be multiples of {latent}"
        )
    step = math.lcm(multiple, _PARTS * latent)
    return max(step, min(own) // step * step)


def tiling_notice(model: str, found: Detected, size: Size, tile: int) -> str:
    """What is told of a conditional refiner that works in tiles."""
    own = f"{found.defaults.width}x{found.defaults.height}"
    count = math.prod(tiles_along(side, tile) for side in size)
    return (
        f"{model} is made for images of {own}: {size[0]}x{size[1]} is refined in {count} overlapping tiles of "
        f"{tile}x{tile}, all of them in each step"
    )


def _check_first(name: str, images: RequestImages) -> None:
    if images.init is None:
        raise UsageError(
            f"{name} is a conditional refiner: it enlarges a finished image, and generates none by itself; give it an "
            "image with --init, or another model with --model and this one with --refine-with"
        )
    if images.inpaint is not None:
        raise UsageError(
            f"{name} is a conditional refiner, which enlarges whole images: leave the mask or outpainting out, or "
            "inpaint with another model and use this one with --refine-with"
        )


def _check_later(found: FoundModel, transition: Transition) -> None:
    name, is_one = found.info.id, found.detected.conditional_refiner
    if is_one and not transition.refines:
        raise UsageError(
            f"{name} is a conditional refiner: it enlarges finished images, and continues no schedule and makes no "
            "second pass; use it with --refine-with"
        )
    if transition.refines and not is_one:
        raise UsageError(
            f"{name} is no conditional refiner but an ordinary model ({found.detected.family} "
            f"{found.detected.variant}): use it with --refiner, or --hires for a second pass, instead of --refine-with"
        )
    if transition.refines and (transition.space, transition.strength is None) != ("latent", False):
        raise UsageError(
            f"the transition to the conditional refiner {name} is in {transition.space} space with the strength "
            f"{transition.strength}; it must be in latent space with a strength, usually 1"
        )


def _described(config: Config) -> str:
    _, scaling, shift, _, _, name, channels, factor = latent_space(config)
    shifted = "" if shift is None else f", shift {str(shift)[:20]}"
    return (
        f"{str(name)[:40]} with {channels} channels, {factor} pixels per latent, scaling {str(scaling)[:20]}{shifted}"
    )
