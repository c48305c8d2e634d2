"""Transparency beside colours: kept by whatever makes an image larger, and flattened where a format has none."""

from pathlib import Path

from PIL import Image

from mezzotint.trouble import shown

_WITHOUT = (".jpg", ".jpeg")


def colours_of_all(image: Image.Image) -> Image.Image:
    """RGB of an RGB or RGBA image; transparent pixels have the colours of those around them.

    What is behind them, mostly black, would otherwise bleed into the edges once they are enlarged. Their colours come
    from halved copies, in which the pixels count by their opacity (pull-push; Gortler et al., The Lumigraph, 1996).
    """
    if image.mode != "RGBA":
        return image
    colours, opacity = image.convert("RGB"), image.getchannel("A")
    if opacity.getextrema()[0] or max(image.size) == 1:
        return colours
    half = image.resize((max(1, image.width // 2), max(1, image.height // 2)), Image.Resampling.BOX)
    around = colours_of_all(half).resize(image.size, Image.Resampling.BILINEAR)
    return Image.composite(colours, around, opacity.point(lambda value: 255 if value else 0))


def opacity_of(image: Image.Image) -> Image.Image | None:
    """The opacity "L" of an image; None if it has none."""
    return image.getchannel("A") if image.mode == "RGBA" else None


def with_opacity(image: Image.Image, opacity: Image.Image | None) -> Image.Image:
    """The RGB image as RGBA with an opacity, resized to it; unchanged without one."""
    if opacity is None:
        return image
    made = image.copy()
    made.putalpha(opacity if opacity.size == image.size else opacity.resize(image.size, Image.Resampling.LANCZOS))
    return made


def flattening_notice(image: Image.Image, path: Path) -> str | None:
    """What to say of an image that loses its transparency in the format of a file; None if it loses none."""
    if image.mode != "RGBA" or path.suffix.lower() not in _WITHOUT:
        return None
    return f"{shown(path.name)}: JPEG has no transparency: white is put behind it; name a .png or .webp file to keep it"
