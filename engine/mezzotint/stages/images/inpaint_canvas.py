"""The part of an image that a model sees and inpaints, and how the result is composited back."""

import math
from dataclasses import dataclass

from PIL import Image, ImageChops

from mezzotint.errors import UsageError
from mezzotint.images.canvas import Box, filled, fit, middle, stretched
from mezzotint.images.masks import covering, feathered
from mezzotint.protocol import Inpaint, InpaintUsed
from mezzotint.stages.images.request_images import MAX_FEATHER, Size, grown_size, margins

_LANCZOS = Image.Resampling.LANCZOS


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasCrop:
    """The model's view of the image at the size of a stage."""

    image: Image.Image  # "RGB"; already filled where inpainting starts from a fill
    mask: Image.Image  # "L", 255 where it is inpainted
    opacity: Image.Image  # "L", of the inpainted result: feathered at the mask's edges


class InpaintCanvas:
    """An image "RGB" with a mask "L" of the same size for the part to inpaint.

    Whole: all stages see the image, cropped and resized to their sizes; the result has the last one's. Outpainted: the
    same without cropping; the result has the grown size times the last stage's scale over the first. Masked: they see a
    box around the mask, scaled to their sizes; the result has the image's own size, grown or not.
    """

    def __init__(self, image: Image.Image, mask: Image.Image | None, inpaint: Inpaint, first: Size, last: Size) -> None:
        """`first` and `last` are the sizes of the first and last stage."""
        self._inpaint, self._first, self._last = inpaint, first, last
        self._original_size = image.size
        self._image, self._mask, self._new = _grown(image, mask, inpaint)
        self._masked = inpaint.area == "masked"
        self._cropped = not self._masked and not any(margins(inpaint))
        if self._masked:
            self._box = box_around(_bounding_box(self._mask), inpaint.padding, self._image.size, first)
        elif self._cropped:
            left, top, right, bottom = (round(side) for side in middle(image.size, *last))
            self._box = (left, top, right, bottom)
        else:
            self._box = (0, 0, *first)
        self._crops: dict[Size, CanvasCrop] = {}
        self._base = self._composite_base()

    @property
    def used(self) -> InpaintUsed:
        """The resolved inpainting settings."""
        width, height = self._image.size
        return InpaintUsed(asked=self._inpaint, box=self._box, width=width, height=height)

    @property
    def size(self) -> Size:
        """Size of the resulting image."""
        return self._base[0].size if self._masked else self._final_size

    @property
    def remarks(self) -> dict[str, str]:
        """Remarks for the user, by notice code."""
        found = {}
        wide, high = _box_size(self._box)
        if self._cropped and self._original_size != self._last:
            found["kept_parts_resized"] = (
                f"the image is resized from {_size_text(self._original_size)} to {_size_text(self._last)}, so the "
                "preserved parts are resized, too; inpainting only the masked area leaves them unchanged"
            )
        if self._masked and wide * high > self._last[0] * self._last[1]:
            found["painted_smaller"] = (
                f"the masked area with its padding is {wide}x{high}, but is generated at {_size_text(self._last)}: "
                "it will be less sharp than the rest; choose a larger size, or inpaint smaller areas one by one"
            )
        return found

    def crop_at(self, size: Size) -> CanvasCrop:
        """The model's view at the size of a stage."""
        if size not in self._crops:
            mask = self._view_of_mask(self._mask, size)
            scale = size[0] / (_box_size(self._box)[0] if self._masked else self._last[0])
            opacity = feathered(mask, min(MAX_FEATHER, round(self._inpaint.feather * scale)))
            to_fill = self._view_of_mask(self._new, size)
            if self._inpaint.fill != "original":  # the feathered edges start from the original
                to_fill = ImageChops.lighter(to_fill, opacity.point(lambda value: 255 if value == 255 else 0))
            image = filled(self._view(self._image, size), to_fill)
            self._crops[size] = CanvasCrop(image=image, mask=mask, opacity=opacity)
        return self._crops[size]

    def view_of(self, image: Image.Image, size: Size) -> Image.Image:
        """The same view of another image, which shows the whole as it will be once outpainted."""
        return self._view(fit(image, *self._image.size, _LANCZOS), size)

    def composite(self, generated: Image.Image) -> Image.Image:
        """Composite the inpainted part into the whole image; outside the mask it stays bit-identical."""
        kept, opacity = self._base
        if not self._masked:
            return Image.composite(generated, kept, opacity).crop((0, 0, *self._final_size))
        left, top, right, bottom = self._box
        inside = (max(0, left), max(0, top), min(kept.width, right), min(kept.height, bottom))
        new = generated.resize((right - left, bottom - top), _LANCZOS)
        new = new.crop((inside[0] - left, inside[1] - top, inside[2] - left, inside[3] - top))
        result = kept.copy()
        result.paste(new, inside, opacity.crop(inside))
        return result

    def _composite_base(self) -> tuple[Image.Image, Image.Image]:
        """The preserved image and the opacity of the inpainted part over it, at the size where both are composited."""
        kept = self._image if self._masked else self._view(self._image, self._last)
        mask = self._mask if self._masked else self._view_of_mask(self._mask, self._last)
        if mask.getbbox() is None:
            raise UsageError(
                f"the mask lies outside the part of the image that is used: {_size_text(self._original_size)} is "
                f"cropped to the aspect ratio of {_size_text(self._last)}; choose a size with the image's own "
                "aspect ratio, or inpaint only the masked area"
            )
        # Latents blend into the original over the whole edge, pixels over its outer half only: differences left after
        # the latents have blended would show through.
        opacity = feathered(mask, self._inpaint.feather)
        return kept, opacity.point(lambda value: min(255, 2 * value))

    @property
    def _final_size(self) -> Size:
        """The result's size without the padding that brought an outpainted image up to a supported size."""
        if self._cropped:
            return self._last
        width, height = self._image.size
        return (
            round(width * self._last[0] / self._first[0]),
            round(height * self._last[1] / self._first[1]),
        )

    def _view(self, image: Image.Image, size: Size) -> Image.Image:
        if self._cropped:
            return fit(image, *size, _LANCZOS)
        part = stretched(image, self._box)
        return part if part.size == size else part.resize(size, _LANCZOS)

    def _view_of_mask(self, mask: Image.Image, size: Size) -> Image.Image:
        if not self._cropped:
            return covering(stretched(mask, self._box), size)
        return fit(mask, *size, Image.Resampling.BOX).point(lambda value: 255 if value else 0)


def box_around(found: Box, padding: int, image: Size, shape: Size) -> Box:
    """The bounding box of a mask plus padding, clipped to the image, then widened to the aspect ratio `shape`.

    If the image is too narrow for that ratio, the box extends beyond it on both sides.
    """
    left, right = max(0, found[0] - padding), min(image[0], found[2] + padding)
    top, bottom = max(0, found[1] - padding), min(image[1], found[3] + padding)
    width = max(right - left, math.ceil((bottom - top) * shape[0] / shape[1]))
    height = max(bottom - top, math.ceil((right - left) * shape[1] / shape[0]))
    left, top = _placed(left, right, width, image[0]), _placed(top, bottom, height, image[1])
    return left, top, left + width, top + height


def _placed(low: int, high: int, length: int, room: int) -> int:
    """The start of an interval of `length` centred on low..high, shifted to lie within `room` where possible."""
    if length >= room:
        return (room - length) // 2
    return min(max(0, (low + high - length) // 2), room - length)


def _grown(
    image: Image.Image, mask: Image.Image | None, inpaint: Inpaint
) -> tuple[Image.Image, Image.Image, Image.Image]:
    """The grown image, the mask of what is inpainted, and the mask of the new parts."""
    left, top, right, bottom = margins(inpaint)
    width, height = image.size
    box = (-left, -top, width + right, height + bottom)
    size = grown_size(image.size, inpaint)
    new, whole_mask = Image.new("L", size, 255), Image.new("L", size, 255)
    new.paste(0, (left, top, left + width, top + height))
    over = inpaint.feather  # the mask reaches into the original by `feather`, so that the two can blend there
    old = (left + over * (left > 0), top + over * (top > 0))
    end = (left + width - over * (right > 0), top + height - over * (bottom > 0))
    if end[0] > old[0] and end[1] > old[1]:
        whole_mask.paste(0, (*old, *end))
    if mask is not None:
        within = Image.new("L", size)
        within.paste(mask, (left, top))
        whole_mask = ImageChops.lighter(whole_mask, within)
    return stretched(image, box), whole_mask, new


def _bounding_box(mask: Image.Image) -> Box:
    found = mask.getbbox()
    if found is None:  # read_mask refuses empty masks
        raise UsageError("there is nothing to inpaint: the mask is black; paint the area to inpaint white")
    return found


def _box_size(box: Box) -> Size:
    return box[2] - box[0], box[3] - box[1]


def _size_text(size: Size) -> str:
    return f"{size[0]}x{size[1]}"
