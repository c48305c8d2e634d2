"""Inpainting and outpainting: the part of a request that options state."""

from dataclasses import replace

from mezzotint.errors import UsageError
from mezzotint.option import declared
from mezzotint.option_values import SIDES
from mezzotint.options import Options
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint


def images_of(options: Options, base: GenerateRequest) -> tuple[ImageInput, ...]:
    """The images of the request; another init image does away with the mask of the one before."""
    kept = base.images if options.init is None else (ImageInput(path=options.init),)
    if options.mask is None:
        return kept
    return (*(image for image in kept if image.role != "mask"), ImageInput(path=options.mask, role="mask"))


def inpaint_of(options: Options, base: GenerateRequest) -> Inpaint | None:
    """How the masked part is made anew; an earlier image's way stays for what is not said, with its init image."""
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
