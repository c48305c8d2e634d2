"""Finished images enlarged: A1111's `extra-single-image` and `extra-batch-images`."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from mezzotint.api_server.fields import Fields
from mezzotint.api_server.pictures import image_bytes
from mezzotint.api_server.refusal import invalid
from mezzotint.api_server.second_pass import LARGEST_SIDE
from mezzotint.images.reading import MAX_PIXELS, open_image, upright_size
from mezzotint.library_protocol import MOST_SCALE, UpscaledImage, UpscaleRequest
from mezzotint.protocol import IsCancelled, OnEvent, Output
from mezzotint.values.basic import shown

MOST_IMAGES = 100  # in one request
_UNUSED = ("show_extras_results", "codeformer_weight", "upscale_first", "upscaling_resize_w", "upscaling_resize_h")
_OFF = ("gfpgan_visibility", "codeformer_visibility", "extras_upscaler_2_visibility")
_NONE = ("none", "")

Upscales = Callable[[UpscaleRequest, OnEvent, IsCancelled], UpscaledImage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enlarging:
    """Images to be enlarged: by a scale, or to cover a size, to which they may be cropped."""

    images: tuple[bytes, ...]
    fields: tuple[str, ...]  # of the images, for errors
    upscaler: str
    scale: float
    cover: tuple[int, int] | None = None
    crop: bool = True


def read_enlarging(data: Mapping[str, object], upscalers: Sequence[str], *, several: bool) -> Enlarging:
    """Translate the JSON of a request. Raises Refusal for whatever cannot be done as it says."""
    fields = Fields(data)
    images, names = _images(fields, several=several)
    for name in _OFF:
        if fields.number(name, 0, 0, 1):
            raise invalid(name, "restoring faces and a second upscaler are not supported; leave it out")
    size_mode = fields.whole("resize_mode", 0, 0, 1) == 1
    crop = fields.flag("upscaling_crop", True)
    sides = tuple(fields.whole(name, 512, 1, LARGEST_SIDE) for name in _UNUSED[-2:]) if size_mode else None
    fields.text("upscaler_2")
    return Enlarging(
        images=images,
        fields=names,
        upscaler=_upscaler(fields.text("upscaler_1", "None"), upscalers),
        scale=fields.number("upscaling_resize", 2, 1, MOST_SCALE),
        cover=None if sides is None else (sides[0], sides[1]),
        crop=crop,
    )


def enlarge(asked: Enlarging, upscale: Upscales, folder: Path, on_event: OnEvent, cancelled: IsCancelled) -> list[str]:
    """Enlarge the images; returns PNG files in base64. Raises MezzotintError."""
    made = []
    for index, (data, field) in enumerate(zip(asked.images, asked.fields, strict=True)):
        source, target = folder / f"image-{index}", folder / f"enlarged-{index}.png"
        source.write_bytes(data)
        with open_image(source) as image:
            scale = _scale(asked, upright_size(image), field)
        request = UpscaleRequest(
            path=str(source), upscaler=asked.upscaler, scale=scale, output=Output(path=str(target))
        )
        upscale(request, on_event, cancelled)
        made.append(base64.b64encode(_cropped(target, asked)).decode("ascii"))
        source.unlink()
        target.unlink()
    return made


def _images(fields: Fields, *, several: bool) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
    if not several:
        return (image_bytes(fields.text("image"), "image"),), ("image",)
    given = fields.objects("imageList")
    if not 1 <= len(given) <= MOST_IMAGES:
        raise invalid("imageList", f"{len(given)} images are given; expected 1 to {MOST_IMAGES}")
    names = tuple(each.path("data") for each in given)
    return tuple(image_bytes(each.text("data"), name) for each, name in zip(given, names, strict=True)), names


def _upscaler(name: str, upscalers: Sequence[str]) -> str:
    found = next((each for each in upscalers if each.casefold() == name.strip().casefold()), None)
    if found is not None:
        return found
    why = "which one is to be said" if name.strip().lower() in _NONE else f"{shown(name)} is not known"
    raise invalid("upscaler_1", f"{why}; known are {', '.join(upscalers[:20]) or 'none'}")


def _scale(asked: Enlarging, size: tuple[int, int], field: str) -> float:
    scale = asked.scale
    if asked.cover is not None:
        scale = max(side / own for side, own in zip(asked.cover, size, strict=True))
    if not 1 <= scale <= MOST_SCALE:
        raise invalid(field, f"{size[0]} x {size[1]} pixels are enlarged 1 to {MOST_SCALE:g} times, not {scale:.3g}")
    pixels = size[0] * size[1] * scale * scale
    if pixels > MAX_PIXELS:
        most = MAX_PIXELS // 10**6
        raise invalid(field, f"{pixels / 1e6:.0f} million pixels are asked for; at most {most} million are possible")
    return scale


def _cropped(path: Path, asked: Enlarging) -> bytes:
    """The file, or its middle of the size that was asked for."""
    if asked.cover is None or not asked.crop:
        return path.read_bytes()
    with Image.open(path) as image:
        left, top = ((have - want) // 2 for have, want in zip(image.size, asked.cover, strict=True))
        if image.size == asked.cover:
            return path.read_bytes()
        out = io.BytesIO()
        image.crop((left, top, left + asked.cover[0], top + asked.cover[1])).save(out, "PNG")
    return out.getvalue()
