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
from mezzotint.api_server.second_pass import LARGEST_SIDE, RESAMPLERS
from mezzotint.images.dialect import HIRES_UPSCALERS
from mezzotint.images.reading import MAX_PIXELS, open_image, refused_if_broken, to_rgb, upright, upright_size
from mezzotint.library_protocol import MOST_SCALE, UpscaledImage, UpscaleRequest
from mezzotint.protocol import IsCancelled, OnEvent, Output
from mezzotint.values.basic import shown

_NONE = "None"
MOST_IMAGES = 100  # in one request
_SIDES = ("upscaling_resize_w", "upscaling_resize_h")
_WITHOUT_EFFECT = ("show_extras_results", "codeformer_weight", "upscale_first", "upscaler_2")  # once faces are off
_OFF = ("gfpgan_visibility", "codeformer_visibility", "extras_upscaler_2_visibility")
_RESAMPLING: Mapping[str, Image.Resampling] = {
    "lanczos": Image.Resampling.LANCZOS,
    "nearest": Image.Resampling.NEAREST,
}

Upscales = Callable[[UpscaleRequest, OnEvent, IsCancelled], UpscaledImage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enlarging:
    """Images to be enlarged: by a scale, or to cover a size, to which they may be cropped."""

    images: tuple[bytes, ...]
    fields: tuple[str, ...]  # of the images, for errors
    upscaler: str | None  # a network; None: it is resampled
    resampler: str = "lanczos"
    scale: float = 1
    cover: tuple[int, int] | None = None
    crop: bool = True


def read_enlarging(fields: Fields, upscalers: Sequence[str], *, several: bool) -> Enlarging:
    """Translate the fields of a request. Raises Refusal for whatever cannot be done as it says."""
    images, names = _images(fields, several=several)
    for name in _OFF:
        if fields.number(name, 0, 0, 1):
            raise invalid(name, "restoring faces and a second upscaler are not supported; leave it out")
    for name in _WITHOUT_EFFECT:
        fields.take(name)
    upscaler, resampler = _upscaler(fields.text("upscaler_1", _NONE), upscalers)
    if upscaler is None and resampler is None:  # as A1111 does; what it says of sizes is left
        return Enlarging(images=images, fields=names, upscaler=None)
    size_mode = fields.whole("resize_mode", 0, 0, 1) == 1
    crop, scale = fields.flag("upscaling_crop", True), fields.number("upscaling_resize", 2, 1, MOST_SCALE)
    sides = [fields.whole(name, 512, 1, LARGEST_SIDE) for name in _SIDES]
    return Enlarging(
        images=images,
        fields=names,
        upscaler=upscaler,
        resampler=resampler or "",
        scale=scale,
        cover=(sides[0], sides[1]) if size_mode else None,
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
        if asked.upscaler is None:
            _resample(source, target, scale, asked.resampler)
        else:
            output = Output(path=str(target))
            request = UpscaleRequest(path=str(source), upscaler=asked.upscaler, scale=scale, output=output)
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
    for each in given:
        each.take("name")  # the images come back in the same order
    return tuple(image_bytes(each.text("data"), name) for each, name in zip(given, names, strict=True)), names


def _upscaler(name: str, upscalers: Sequence[str]) -> tuple[str | None, str | None]:
    """The network, or else how pixels are resampled; neither for None, which keeps an image as it is."""
    wanted = name.strip().casefold() or _NONE.casefold()
    if name not in upscalers and wanted == _NONE.casefold():
        return None, None
    found = name if name in upscalers else next((each for each in upscalers if each.casefold() == wanted), None)
    resampler = next((HIRES_UPSCALERS[wanted][1] for each in RESAMPLERS if each.casefold() == wanted), None)
    if found is None and resampler is None:
        known = ", ".join((*RESAMPLERS, *upscalers[:20]))
        raise invalid("upscaler_1", f"{shown(name)} is not known; known are {known}")
    return found, None if found else resampler


def _resample(source: Path, target: Path, scale: float, how: str) -> None:
    with open_image(source) as image, refused_if_broken(source):
        whole = upright(image)
        whole = whole.convert("RGBA") if whole.has_transparency_data else to_rgb(whole)
        size = (round(whole.width * scale), round(whole.height * scale))
        (whole if size == whole.size else whole.resize(size, _RESAMPLING[how])).save(target, "PNG")


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
