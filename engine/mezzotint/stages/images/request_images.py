"""The images of a request: which there are, their roles, and how they determine the first stage's size."""

import math
from dataclasses import dataclass
from pathlib import Path

from mezzotint.errors import MezzotintError, UsageError
from mezzotint.images.canvas import middle
from mezzotint.images.reading import MAX_PIXELS, open_image, upright_size
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint
from mezzotint.stages.images.sizes import SMALLEST, size_for_image

MAX_FEATHER = 256  # pixels
MAX_PADDING = 4096
LEAST_SHARE = 0.85  # of an init image; sizes in multiples crop less
STRENGTH = 0.6  # preserves some of the existing content
STRENGTH_OF_NEW = 1.0  # a fill has no content to preserve

_USUAL_SIZE, _USUAL_MULTIPLE = (1024, 1024), 8  # pixels

Size = tuple[int, int]

_KINDS = {"init": "an init image", "mask": "a mask", "reference": "a reference image"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestImages:
    """The input images of a request; all `None` for text-to-image."""

    init: Path | None
    mask: Path | None
    inpaint: Inpaint | None  # None: no inpainting
    strength: float | None  # None: no init image
    references: tuple[Path, ...] = ()  # in request order

    @property
    def sizing(self) -> Path | None:
        """The image that determines an unspecified size: the init image, else the first reference image."""
        return self.init or next(iter(self.references), None)

    @property
    def grows(self) -> bool:
        """Whether the image is outpainted."""
        return self.inpaint is not None and any(margins(self.inpaint))

    @property
    def sizes_follow(self) -> bool:
        """Whether the first stage must have the size of the outpainted image."""
        return self.grows and self.inpaint is not None and self.inpaint.area == "whole"

    def outpainted(self, image: Size) -> Size:
        """The size of the init image once outpainted."""
        return image if self.inpaint is None else grown_size(image, self.inpaint)

    def natural_size(self, image: Size, default: Size, multiple: int) -> Size:
        """The first stage's size if none is requested; `image` is the size of `sizing`."""
        if self.init is None:
            return size_for_image(image, default, multiple, enlarges=True)
        if self.inpaint is not None and self.inpaint.area == "masked":
            return default
        if not self.sizes_follow or self.inpaint is None:
            return size_for_image(image, default, multiple)
        width, height = (max(SMALLEST, side) for side in self.outpainted(image))
        return math.ceil(width / multiple) * multiple, math.ceil(height / multiple) * multiple

    def check_size(self, natural: Size, asked: Size) -> None:
        """Raise UsageError if the requested size must be, but is not, that of the outpainted image."""
        if self.sizes_follow and natural != asked:
            raise UsageError(
                f"size {asked[0]}x{asked[1]} was requested, but the outpainted image is generated at "
                f"{natural[0]}x{natural[1]}; leave the size out, or inpaint only the new parts (inpaint area masked)"
            )

    def check_growth(self, image: Size) -> None:
        """Raise UsageError if the outpainted image would be too large, before memory is allocated for it."""
        if self.inpaint is None or not self.grows:
            return
        width, height = self.outpainted(image)
        if width * height > MAX_PIXELS:
            raise UsageError(
                f"the outpainted image would be {width}x{height}, {width * height / 1e6:.0f} million pixels; "
                f"at most {MAX_PIXELS // 10**6} million are allowed: use smaller margins than "
                f"left {self.inpaint.left}, top {self.inpaint.top}, right {self.inpaint.right}, "
                f"bottom {self.inpaint.bottom}"
            )


def request_images(request: GenerateRequest) -> RequestImages:
    """Resolve the images of a request; raises UsageError for anything not supported."""
    for image in request.images:
        _check_image(image)
    init, mask = _only(request, "init"), _only(request, "mask")
    if request.strength is not None and init is None:
        raise UsageError(f"strength {request.strength} is given without an init image; add one or leave it out")
    if mask is not None and init is None:
        raise UsageError(f"the mask {mask} is given without an init image; add the image that it is a mask of")
    inpaint = _inpaint(request.inpaint, init, mask)
    return RequestImages(
        init=init,
        mask=mask,
        inpaint=inpaint,
        strength=_strength(request, init, inpaint),
        references=tuple(Path(image.path) for image in request.images if image.role == "reference"),
    )


def crop_notice(image: Size, made: Size) -> str | None:
    """What to tell of an init image that is cropped to the shape of the generated one; None if that takes little."""
    left, top, right, bottom = middle(image, *made)
    share = (right - left) * (bottom - top) / (image[0] * image[1])
    if share >= LEAST_SHARE:
        return None
    return (
        f"the init image has {image[0]}x{image[1]} pixels, and {made[0]}x{made[1]} are generated from its middle, "
        f"{share:.2g} of it: give a size of its shape (--size) to use all of it"
    )


def margins(inpaint: Inpaint) -> tuple[int, int, int, int]:
    """Outpainting margins in pixels: left, top, right, bottom."""
    return inpaint.left, inpaint.top, inpaint.right, inpaint.bottom


def grown_size(image: Size, inpaint: Inpaint) -> Size:
    """The size of the outpainted image."""
    return image[0] + inpaint.left + inpaint.right, image[1] + inpaint.top + inpaint.bottom


def _check_image(image: ImageInput) -> None:
    if (image.weight, image.interval) != (1.0, (0.0, 1.0)):
        raise UsageError(f"weight {image.weight} or interval {image.interval} of {_KINDS[image.role]} is not supported")


def _only(request: GenerateRequest, role: str) -> Path | None:
    found = [image for image in request.images if image.role == role]
    if len(found) > 1:
        what = "init images" if role == "init" else "masks"
        raise UsageError(f"{len(found)} {what} are given; only one can be used")
    return Path(found[0].path) if found else None


def _inpaint(asked: Inpaint | None, init: Path | None, mask: Path | None) -> Inpaint | None:
    if asked is None:
        return Inpaint() if mask is not None else None
    for name, value, most in _limits(asked):
        if not 0 <= value <= most:
            raise UsageError(f"{name} of inpainting is {str(value)[:40]}; it must be from 0 to {most} pixels")
    if init is None and any(margins(asked)):
        raise UsageError(f"outpainting by {margins(asked)} pixels was requested without an init image; add one")
    if mask is None and not any(margins(asked)):
        if asked != Inpaint():
            raise UsageError("inpainting was requested without a mask; add one, or outpainting margins")
        return None
    return asked


def _limits(asked: Inpaint) -> list[tuple[str, int, int]]:
    sides = zip(("left", "top", "right", "bottom"), margins(asked), strict=True)
    return [
        ("padding", asked.padding, MAX_PADDING),
        ("feather", asked.feather, MAX_FEATHER),
        *((name, value, MAX_PIXELS) for name, value in sides),
    ]


def _strength(request: GenerateRequest, init: Path | None, inpaint: Inpaint | None) -> float | None:
    if init is None or request.strength is not None:
        return request.strength
    is_new = inpaint is not None and (any(margins(inpaint)) or inpaint.fill != "original")
    return STRENGTH_OF_NEW if is_new else STRENGTH


def natural_size(request: GenerateRequest) -> Size:
    """The size that an input image gives a request that names none; 0, 0: the model's own, or an unreadable image.

    Models are not known here: their usual area limits it.
    """
    try:
        images = request_images(request)
        if images.sizing is None or (images.inpaint is not None and images.inpaint.area == "masked"):
            return 0, 0
        with open_image(images.sizing) as image:
            return images.natural_size(upright_size(image), _USUAL_SIZE, _USUAL_MULTIPLE)
    except (MezzotintError, OSError):
        return 0, 0
