"""Colours of the postcards: of things, sky and ground, and the effects of light and weather."""

from dataclasses import dataclass

Colour = tuple[int, int, int]

PAINT: dict[str, Colour] = {
    "red": (216, 40, 44),
    "orange": (245, 130, 28),
    "yellow": (250, 211, 48),
    "green": (52, 158, 74),
    "blue": (42, 104, 214),
    "purple": (132, 62, 176),
    "pink": (246, 130, 182),
    "white": (246, 246, 242),
    "black": (36, 36, 42),
    "brown": (126, 78, 44),
}

WOOD: Colour = (96, 66, 44)
STONE: Colour = (150, 146, 142)
SAND: Colour = (232, 206, 146)
LAMP: Colour = (255, 226, 130)
GLASS: Colour = (176, 212, 232)
WHITE: Colour = (255, 255, 255)


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """One time of day: three colours of the sky, the sun or moon, and the tint on ground and things."""

    sky: tuple[Colour, Colour, Colour]
    disc: Colour
    ground: tuple[float, float, float]
    thing: tuple[float, float, float]
    lamps: bool


LIGHTS: dict[str, Light] = {
    "dawn": Light(
        sky=((142, 176, 226), (250, 206, 214), (255, 236, 190)),
        disc=(255, 248, 214),
        ground=(1.0, 0.9, 0.88),
        thing=(1.0, 0.96, 0.94),
        lamps=False,
    ),
    "day": Light(
        sky=((62, 146, 232), (132, 192, 244), (206, 234, 252)),
        disc=(255, 240, 150),
        ground=(1.0, 1.0, 1.0),
        thing=(1.0, 1.0, 1.0),
        lamps=False,
    ),
    "dusk": Light(
        sky=((74, 46, 122), (222, 88, 98), (255, 168, 72)),
        disc=(255, 214, 110),
        ground=(0.74, 0.54, 0.58),
        thing=(0.96, 0.88, 0.88),
        lamps=True,
    ),
    "night": Light(
        sky=((8, 12, 38), (18, 28, 72), (40, 58, 112)),
        disc=(244, 242, 220),
        ground=(0.3, 0.36, 0.52),
        thing=(0.86, 0.84, 0.94),
        lamps=True,
    ),
}


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """Interpolate from `first` to `second` by the fraction `share`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def tinted(colour: Colour, tint: tuple[float, float, float]) -> Colour:
    """Multiply each channel by the tint, clipped to 255."""
    red, green, blue = (min(255, round(c * t)) for c, t in zip(colour, tint, strict=True))
    return red, green, blue


def clouded(colour: Colour, weather: str) -> Colour:
    """Apply weather to a sky colour: rain and snow make it greyer, snow also paler."""
    grey = round(0.3 * colour[0] + 0.55 * colour[1] + 0.15 * colour[2])
    if weather == "rain":
        return tinted(mix(colour, (grey, grey, grey), 0.6), (0.8, 0.84, 0.9))
    if weather == "snow":
        return mix(mix(colour, (grey, grey, grey), 0.4), (215, 222, 235), 0.14)
    return colour


def ground_colour(colour: Colour, time: str, weather: str) -> Colour:
    """Apply time and weather to a ground colour: snow covers it, rain darkens it."""
    covered = mix(colour, (240, 245, 252), 0.72) if weather == "snow" else colour
    wet = tinted(covered, (0.82, 0.86, 0.88)) if weather == "rain" else covered
    return tinted(wet, LIGHTS[time].ground)
