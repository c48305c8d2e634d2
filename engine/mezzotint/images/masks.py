"""Masks: which part of an image is inpainted, and how it blends into the rest."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from mezzotint.errors import UsageError
from mezzotint.images.reading import open_image, refused_if_broken, to_rgb, upright
from mezzotint.parsed import Parsed
from mezzotint.trouble import shown

LIGHT = 128  # of 255: pixels at least this light are inpainted

_DARK = 16  # of 255: as dark as black, or as light as white, for the eye
_SHARE_OF_EDGES = 0.01  # of the pixels that are not black
_GREYS = f"its greys (from {LIGHT} of 255 on they count as white, below as black; a feather gives soft edges)"

_BAND = 512  # rows processed at a time: bounds memory for any image size

Bits = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float32]


def read_mask(path: Path, size: tuple[int, int]) -> Parsed[Image.Image]:
    """Read the mask of an image of that size: "L", 255 where it is inpainted, 0 where it is kept.

    Pixels of lightness LIGHT or more count as white; transparent ones count as black. A mask of another size but the
    same shape is resized. Greys are what is not used. Raises UsageError for another shape, and for a mask with nothing
    to inpaint.
    """
    light = read_grey(path)
    check_shape(path, light.size, size)
    unused = (_GREYS,) if _is_soft(light) else ()
    lightest = light.getextrema()[1]
    if light.size != size:
        light = light.resize(size, Image.Resampling.BILINEAR)
    mask = light.point(lambda value: 255 if value >= LIGHT else 0)
    if mask.getbbox() is None:
        raise UsageError(
            f"there is nothing to inpaint: the lightest pixel of the mask {shown(path)} is {lightest} of 255, but "
            f"only pixels from {LIGHT} on are inpainted; paint the area to inpaint white"
        )
    return Parsed(mask, source=f"the mask {shown(path)}", unused=unused)


def _is_soft(light: Image.Image) -> bool:
    """Whether more of a mask is grey than the edges of strokes, and noise of JPEG."""
    counts = light.histogram()
    return sum(counts[_DARK : 256 - _DARK]) > _SHARE_OF_EDGES * sum(counts[_DARK:])


def read_grey(path: Path) -> Image.Image:
    """Read the lightness "L" of an image; raises ImageRefused."""
    with open_image(path) as image, refused_if_broken(path):
        image.load()
        return lightness(upright(image))


def lightness(image: Image.Image) -> Image.Image:
    """The lightness "L" of an image of any mode; transparent pixels are black."""
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, "black"), rgba).convert("L")
    return to_rgb(image).convert("L")


def check_shape(path: Path, mask: tuple[int, int], image: tuple[int, int]) -> None:
    """Check that both have one aspect ratio, give or take a pixel of the smaller one. Raises UsageError."""
    scales = [side / of for side, of in zip(mask, image, strict=True)]
    off = max(1.0, *scales)
    apart = abs(scales[0] - scales[1])
    if apart >= off / image[0] + off / image[1]:
        raise UsageError(
            f"the mask {shown(path)} is {mask[0]}x{mask[1]}, the image {image[0]}x{image[1]}: they must have the "
            "same aspect ratio; paint the mask over the image itself"
        )


def covering(mask: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Resize a mask; every pixel that it touches becomes 255."""
    if mask.size == size:
        return mask
    touched = mask.resize(size, Image.Resampling.BOX)
    return touched.point(lambda value: 255 if value else 0)


def feathered(mask: Image.Image, feather: int) -> Image.Image:
    """The opacity of the inpainted part, "L": 0 outside the mask, rising to 255 over `feather` pixels inside it.

    Where the mask is narrower, it rises to 255 in the middle. The image's own border is no edge.
    """
    found = mask.getbbox()
    if found is None or feather <= 0:
        return mask
    left, top, right, bottom = _widened(found, feather + 1, mask.size)
    inside = np.asarray(mask.crop((left, top, right, bottom))) > 0
    parts = [_feathered_rows(inside, row, feather) for row in range(0, inside.shape[0], _BAND)]
    result = Image.new("L", mask.size)
    result.paste(Image.fromarray(np.concatenate(parts)), (left, top))
    return result


def _widened(box: tuple[int, int, int, int], by: int, size: tuple[int, int]) -> tuple[int, int, int, int]:
    return max(0, box[0] - by), max(0, box[1] - by), min(size[0], box[2] + by), min(size[1], box[3] + by)


def _feathered_rows(inside: Bits, row: int, feather: int) -> npt.NDArray[np.uint8]:
    first, last = max(0, row - 2 * feather), min(inside.shape[0], row + _BAND + 2 * feather)
    depth = _depths(inside[first:last], feather + 1)
    reach = np.minimum(_largest_around(depth, feather), feather + 1)
    part = np.clip(depth / np.maximum(reach, 1), 0, 1)
    return np.rint(part * 255).astype(np.uint8)[row - first : row - first + _BAND]


def _depths(inside: Bits, most: int) -> Numbers:
    """Distance of each pixel `(h, w)` to the nearest one outside, in pixels; 0 outside, at most `most`."""
    along = _depths_along_rows(inside, most).astype(np.int32) ** 2
    nearest = along.copy()
    height = len(along)
    for step in range(1, min(most, height)):  # Pythagoras: squared distances along both axes add up
        np.minimum(nearest[step:], along[:-step] + step * step, out=nearest[step:])
        np.minimum(nearest[:-step], along[step:] + step * step, out=nearest[:-step])
    return np.sqrt(np.minimum(nearest, most * most), dtype=np.float32)


def _depths_along_rows(inside: Bits, most: int) -> npt.NDArray[np.int32]:
    width = inside.shape[1]
    places = np.arange(width, dtype=np.int32)
    before = np.maximum.accumulate(np.where(inside, -most, places), axis=1)
    after = np.minimum.accumulate(np.where(inside, width + most, places)[:, ::-1], axis=1)[:, ::-1]
    return np.minimum(np.minimum(places - before, after - places), most).astype(np.int32)


def _largest_around(values: Numbers, radius: int) -> Numbers:
    """The largest value within `radius` pixels in each direction."""
    for axis in range(2):
        values = _largest_along(values, radius, axis)
    return values


def _largest_along(values: Numbers, radius: int, axis: int) -> Numbers:
    """Running maximum along an axis; window widths double until large enough."""
    padded = np.pad(values, [(radius, radius) if each == axis else (0, 0) for each in range(2)])
    wide, wanted = 1, 2 * radius + 1
    while wide < wanted:
        step = min(wide, wanted - wide)
        head = [slice(None)] * 2
        tail = [slice(None)] * 2
        head[axis], tail[axis] = slice(None, -step), slice(step, None)
        padded = np.maximum(padded[tuple(head)], padded[tuple(tail)])
        wide += step
    return padded
