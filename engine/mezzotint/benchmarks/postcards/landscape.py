"""The scenery of a postcard: sky, sun, stars, the five terrains, rain and snow."""

import math
import random
from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image, ImageDraw

from mezzotint.benchmarks.postcards.palette import LIGHTS, WHITE, Colour, clouded, ground_colour, mix
from mezzotint.benchmarks.postcards.world import Scene

HORIZON = 0.58


def gradient(size: int, stops: Sequence[Colour]) -> Image.Image:
    """Return a square image with an even vertical gradient through the colours."""
    at = np.linspace(0, len(stops) - 1, size)
    columns = [np.interp(at, range(len(stops)), [stop[channel] for stop in stops]) for channel in range(3)]
    column = np.stack(columns, axis=-1).round().astype(np.uint8)
    return Image.fromarray(np.repeat(column[:, None], size, axis=1))


def random_of(scene: Scene, layer: str) -> random.Random:
    """Return the random numbers of one layer of a scene's image."""
    return random.Random(f"paint {scene.seed} {layer}")


def paint_sky(scene: Scene, size: int) -> Image.Image:
    """Paint the sky with sun, moon, stars and clouds over the whole image."""
    horizon = round(size * HORIZON)
    light = LIGHTS[scene.time]
    sky = gradient(horizon, [clouded(colour, scene.weather) for colour in light.sky])
    image = Image.new("RGB", (size, size), clouded(light.sky[2], scene.weather))
    image.paste(sky.resize((size, horizon)), (0, 0))
    if scene.weather == "clear":
        _paint_disc(image, scene)
    if scene.time != "night" or scene.weather != "clear":
        _paint_clouds(image, scene)
    return image


def paint_ground(image: Image.Image, scene: Scene, rng: random.Random) -> None:
    """Paint the scene's terrain over the lower part of the image."""
    TERRAIN_PAINTERS[scene.terrain](image, scene, rng)


def paint_weather(image: Image.Image, scene: Scene, rng: random.Random) -> None:
    """Paint rain or snow over everything."""
    draw = ImageDraw.Draw(image, "RGBA")
    size = image.width
    if scene.weather == "rain":
        for _ in range(42):
            x, y = rng.uniform(0, size * 1.1), rng.uniform(-0.05, 1) * size
            draw.line([(x, y), (x - size * 0.03, y + size * 0.085)], fill=(214, 226, 242, 150), width=3)
    if scene.weather == "snow":
        for _ in range(46):
            x, y, r = rng.uniform(0, size), rng.uniform(0, size), rng.uniform(2.4, 4.4)
            draw.ellipse([x - r, y - r, x + r, y + r], fill=(255, 255, 255, 235))


def _paint_disc(image: Image.Image, scene: Scene) -> None:
    size, light, rng = image.width, LIGHTS[scene.time], random_of(scene, "disc")
    low = scene.time in ("dawn", "dusk")
    x, y = rng.uniform(0.2, 0.8) * size, (0.44 if low else rng.uniform(0.14, 0.2)) * size
    draw = ImageDraw.Draw(image, "RGBA")
    if scene.time == "night":
        _paint_stars(draw, size, random_of(scene, "stars"))
    radius = size * (0.085 if low else 0.065)
    for ring in (2.1, 1.5):
        _circle(draw, x, y, radius * ring, (*light.disc, 46))
    _circle(draw, x, y, radius, (*light.disc, 255))


def _circle(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float, fill: tuple[int, ...]) -> None:
    draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=fill)


def _paint_stars(draw: ImageDraw.ImageDraw, size: int, rng: random.Random) -> None:
    for _ in range(24):
        x, y = rng.uniform(0, size), rng.uniform(0, size * 0.5)
        _circle(draw, x, y, rng.choice((1.5, 2.0, 2.5)), (255, 255, 236, 235))


def _paint_clouds(image: Image.Image, scene: Scene) -> None:
    size, light, rng = image.width, LIGHTS[scene.time], random_of(scene, "clouds")
    colour = clouded(mix(light.sky[1], WHITE, 0.5 if scene.weather == "clear" else 0.16), scene.weather)
    draw = ImageDraw.Draw(image, "RGBA")
    for _ in range(2 if scene.weather == "clear" else 4):
        x, y, w = rng.uniform(0, size), rng.uniform(0.06, 0.3) * size, rng.uniform(0.09, 0.14) * size
        for shift, scale in ((-1.0, 0.7), (0.0, 1.0), (1.0, 0.62)):
            half, high = w * scale, w * scale * 0.62
            draw.ellipse([x + shift * w - half, y - high, x + shift * w + half, y + high * 0.5], fill=(*colour, 225))


def _hills(image: Image.Image, rng: random.Random, *, base: float, height: float, waves: float, fill: Colour) -> None:
    size = image.width
    phase, other = rng.uniform(0, math.tau), rng.uniform(0, math.tau)
    points: list[tuple[float, float]] = [(0, size), *_ridge(size, base, height, waves, phase, other), (size, size)]
    ImageDraw.Draw(image).polygon(points, fill=fill)


def _ridge(
    size: int, base: float, height: float, waves: float, phase: float, other: float
) -> list[tuple[float, float]]:
    points = []
    for x in range(0, size + 4, 4):
        t = x / size * math.tau
        swing = 0.7 * math.sin(waves * t + phase) + 0.3 * math.sin(2.1 * waves * t + other)
        points.append((float(x), size * (base - height * swing)))
    return points


def _paint_sea(image: Image.Image, scene: Scene, rng: random.Random) -> None:
    size, top = image.width, round(image.width * HORIZON)
    light = LIGHTS[scene.time]
    sky = clouded(light.sky[2], scene.weather)
    stops = [mix(ground_sea(scene), sky, share) for share in (0.42, 0.12, 0.0)]
    image.paste(gradient(size - top, stops).resize((size, size - top)), (0, top))
    draw = ImageDraw.Draw(image, "RGBA")
    for _ in range(22):
        y = top + (size - top) * rng.random()
        x, half = rng.uniform(0, size), size * (0.02 + 0.07 * (y - top) / (size - top))
        draw.line([(x - half, y), (x + half, y)], fill=(*mix(sky, WHITE, 0.35), 120), width=2)


def ground_sea(scene: Scene) -> Colour:
    """Return the colour of deep water in the scene."""
    water = {"dawn": (92, 140, 184), "day": (24, 112, 182), "dusk": (88, 56, 112), "night": (12, 24, 60)}
    return clouded(water[scene.time], scene.weather)


def _paint_meadow(image: Image.Image, scene: Scene, rng: random.Random) -> None:
    layers = ((0.57, 0.05, (126, 180, 110)), (0.64, 0.03, (108, 176, 78)), (0.76, 0.025, (84, 158, 62)))
    for base, height, colour in layers:
        fill = ground_colour(colour, scene.time, scene.weather)
        _hills(image, rng, base=base, height=height, waves=rng.uniform(0.7, 1.2), fill=fill)
    draw, size = ImageDraw.Draw(image), image.width
    for _ in range(26):
        x, y, r = rng.uniform(0, size), rng.uniform(0.8, 1) * size, rng.uniform(1.8, 3)
        flower = ground_colour(rng.choice(((255, 236, 120), (250, 250, 250), (250, 150, 170))), scene.time, "clear")
        _circle(draw, x, y, r, flower)


def _paint_desert(image: Image.Image, scene: Scene, rng: random.Random) -> None:
    layers = ((0.58, 0.05, (226, 178, 112)), (0.66, 0.035, (236, 196, 128)), (0.78, 0.03, (246, 212, 146)))
    for number, (base, height, colour) in enumerate(layers):
        fill = ground_colour(colour, scene.time, scene.weather)
        _hills(image, rng, base=base, height=height, waves=rng.uniform(0.5, 0.9), fill=fill)
        if number == 1:
            _paint_cacti(image, scene, rng)


def _paint_cacti(image: Image.Image, scene: Scene, rng: random.Random) -> None:
    draw, size = ImageDraw.Draw(image), image.width
    green = ground_colour((74, 136, 84), scene.time, "clear")
    for x in (rng.uniform(0.04, 0.12), rng.uniform(0.88, 0.96)):
        left, foot, w = x * size, rng.uniform(0.7, 0.76) * size, size * 0.016
        draw.rounded_rectangle([left - w, foot - size * 0.15, left + w, foot], radius=w, fill=green)
        draw.rounded_rectangle([left - 3 * w, foot - size * 0.11, left, foot - size * 0.085], radius=w, fill=green)
        draw.rounded_rectangle([left, foot - size * 0.09, left + 3 * w, foot - size * 0.065], radius=w, fill=green)


def _paint_mountains(image: Image.Image, scene: Scene, rng: random.Random) -> None:
    size = image.width
    far = mix(ground_colour((122, 134, 160), scene.time, scene.weather), LIGHTS[scene.time].sky[1], 0.3)
    near = ground_colour((96, 104, 128), scene.time, scene.weather)
    cap = ground_colour((248, 250, 255), scene.time, "clear")
    for colour, high, xs in ((far, 0.36, (0.3, 0.72)), (near, 0.28, (0.02, 0.5, 0.98))):
        for x in xs:
            peak = (x + rng.uniform(-0.07, 0.07)) * size
            _paint_peak(image, peak, size * rng.uniform(high - 0.04, high + 0.03), colour, cap)
    for base, colour in ((0.68, (104, 132, 104)), (0.79, (86, 118, 84))):
        fill = ground_colour(colour, scene.time, scene.weather)
        _hills(image, rng, base=base, height=0.018, waves=1.0, fill=fill)


def _paint_peak(image: Image.Image, x: float, height: float, colour: Colour, cap: Colour) -> None:
    draw, foot = ImageDraw.Draw(image), image.width * 0.7
    top, half = foot - height, height * 0.78
    draw.polygon([(x - half, foot), (x, top), (x + half, foot)], fill=colour)
    draw.polygon([(x, top), (x + half, foot), (x + half * 0.1, foot)], fill=mix(colour, (0, 0, 0), 0.16))
    low, side = top + height * 0.34, half * 0.34
    zigzag = [(x + side, low), (x + side * 0.4, low - height * 0.08), (x, low), (x - side * 0.4, low - height * 0.08)]
    draw.polygon([(x, top), *zigzag, (x - side, low)], fill=cap)


def _paint_forest(image: Image.Image, scene: Scene, rng: random.Random) -> None:
    for base, high, colour, step in ((0.62, 0.2, (74, 128, 96), 0.075), (0.7, 0.27, (42, 98, 66), 0.11)):
        fill = ground_colour(colour, scene.time, "rain" if scene.weather == "rain" else "clear")
        fill = mix(fill, ground_colour((240, 245, 252), scene.time, "clear"), 0.3 * (scene.weather == "snow"))
        x = -rng.random() * step
        while x < 1.05:
            _paint_pine(image, x, base, high * rng.uniform(0.8, 1.15), fill)
            x += step * rng.uniform(0.8, 1.2)
    for base, colour in ((0.68, (72, 120, 66)), (0.8, (60, 106, 56))):
        fill = ground_colour(colour, scene.time, scene.weather)
        _hills(image, rng, base=base, height=0.012, waves=1.0, fill=fill)


def _paint_pine(image: Image.Image, x: float, base: float, height: float, fill: Colour) -> None:
    size, draw = image.width, ImageDraw.Draw(image)
    middle, foot = x * size, (base + 0.05) * size
    for low, half in ((0.0, 0.3), (0.3, 0.24), (0.58, 0.17)):
        bottom = foot - low * height * size
        top = foot - min(1.0, low + 0.52) * height * size
        side = half * height * size
        draw.polygon([(middle - side, bottom), (middle + side, bottom), (middle, top)], fill)


TERRAIN_PAINTERS: dict[str, Callable[[Image.Image, Scene, random.Random], None]] = {
    "sea": _paint_sea,
    "meadow": _paint_meadow,
    "desert": _paint_desert,
    "mountains": _paint_mountains,
    "forest": _paint_forest,
}
