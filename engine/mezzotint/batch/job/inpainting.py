"""Inpainting and outpainting: the part of a request that options state."""

from dataclasses import replace
from typing import get_args

from mezzotint.errors import UsageError
from mezzotint.option import declared
from mezzotint.option_values import SIDES
from mezzotint.options import Options
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint
from mezzotint.request_protocol import ImageRole


def images_of(options: Options, base: GenerateRequest) -> tuple[ImageInput, ...]:
    """The images of the request, by their roles; another init image does away with the mask of the one before."""
    said: dict[ImageRole, tuple[str, ...]] = {}
    if options.init is not None:
        said |= {"init": (options.init,), "mask": ()}
    if options.mask is not None:
        said["mask"] = (options.mask,)
    if options.reference:
        said["reference"] = options.reference
    kept = (image for image in base.images if image.role not in said)
    new = (ImageInput(path=path, role=role) for role, paths in said.items() for path in paths)
    return tuple(sorted((*kept, *new), key=lambda image: get_args(ImageRole).index(image.role)))


def inpaint_of(options: Options, base: GenerateRequest) -> Inpaint | None:
    """How the masked part is inpainted; an earlier image's way stays for what is not said, with its init image."""
    known = base.inpaint if options.init is None else None
    said = options.of(Inpaint)
    if options.outpaint is not None:
        said |= dict(zip(SIDES, options.outpaint, strict=True))
    return replace(known or Inpaint(), **said) if said else known


def size_follows(options: Options, base: GenerateRequest) -> bool:
    """Whether recorded sizes make room for that of the grown image."""
    asked = inpaint_of(options, base)
    return options.outpaint is not None and options.size is None and asked is not None and asked.area == "whole"


def check_inpainting(options: Options, base: GenerateRequest) -> None:
    """UsageError where an option says something about what is not there."""
    has_init = options.init is not None or any(image.role == "init" for image in base.images)
    if options.mask is not None and not has_init:
        raise UsageError("--mask requires an init image: add --init")
    if options.outpaint is not None and not has_init:
        raise UsageError("--outpaint requires an init image: add --init")
    has_mask = any(image.role == "mask" for image in images_of(options, base))
    asked = inpaint_of(options, base)
    grows = asked is not None and any(getattr(asked, side) for side in SIDES)
    for field in options.of(Inpaint):
        if not has_mask and not grows:
            raise UsageError(f"{declared(Inpaint)[field].flag} requires --mask or --outpaint")
