"""The inpainting and outpainting part of a request, as set by options."""

from dataclasses import replace
from typing import get_args

from mezzotint.errors import UsageError
from mezzotint.option import declared
from mezzotint.options import Options
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint
from mezzotint.request_protocol import ImageRole
from mezzotint.values.sizes import SIDES


def images_of(options: Options, base: GenerateRequest) -> tuple[ImageInput, ...]:
    """Return the request's images ordered by role; a new init image discards the mask of the previous one."""
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
    """Return the inpaint settings; unset options keep those of `base`, unless the init image is replaced."""
    known = base.inpaint if options.init is None else None
    said = options.of(Inpaint)
    if options.outpaint is not None:
        said |= dict(zip(SIDES, options.outpaint, strict=True))
    return replace(known or Inpaint(), **said) if said else known


def size_follows(options: Options, base: GenerateRequest) -> bool:
    """Whether the size of the outpainted image replaces the recorded sizes."""
    asked = inpaint_of(options, base)
    return options.outpaint is not None and options.size is None and asked is not None and asked.area == "whole"


def check_inpainting(options: Options, base: GenerateRequest) -> None:
    """Raise UsageError if an option requires an init image, mask or outpainting that is absent."""
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
