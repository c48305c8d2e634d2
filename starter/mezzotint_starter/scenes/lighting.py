"""How the hour and the weather change the picture of a thing."""

from PIL import Image, ImageChops, ImageFilter

Factors = tuple[float, float, float]

_TINTS: dict[str, Factors] = {
    "dawn": (1.0, 0.94, 0.9),
    "day": (1.0, 1.0, 1.0),
    "dusk": (0.98, 0.82, 0.8),
    "night": (0.68, 0.7, 0.9),
}
_RAIN: Factors = (0.88, 0.9, 0.94)
_CAP = 0.07  # height of the snow on a thing, as a share of its picture's


def lit(picture: Image.Image, time: str, weather: str) -> Image.Image:
    """Return an RGBA picture in the light of the hour."""
    factors = _TINTS[time]
    if weather == "rain":
        factors = tuple(a * b for a, b in zip(factors, _RAIN, strict=True))  # type: ignore[assignment]  # three again
    if factors == (1.0, 1.0, 1.0):
        return picture
    table = [min(255, round(value * factor)) for factor in factors for value in range(256)]
    return picture.point(table + list(range(256)))


def snow_covered(picture: Image.Image, time: str) -> Image.Image:
    """Return an RGBA picture with snow on what looks upwards."""
    alpha = picture.getchannel("A")
    down = max(2, round(picture.height * _CAP))
    below = Image.new("L", alpha.size)
    below.paste(alpha, (0, down))
    cap = ImageChops.subtract(alpha, below).filter(ImageFilter.GaussianBlur(0.8))
    white = lit(Image.new("RGBA", picture.size, (250, 252, 255, 255)), time, "clear").convert("RGB")
    colours = picture.convert("RGB")
    colours.paste(white, mask=cap)
    colours.putalpha(alpha)
    return colours
