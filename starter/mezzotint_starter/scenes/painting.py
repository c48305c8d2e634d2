"""Paint composed scenes: scenery, shadows, things in the light of the hour, and the weather over all."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from mezzotint.benchmarks.postcards.landscape import ground_sea, paint_ground, paint_sky, random_of
from mezzotint.benchmarks.postcards.palette import LIGHTS, SAND, Colour, ground_colour, mix, tinted
from mezzotint.benchmarks.postcards.world import Scene
from mezzotint_starter.scenes.lighting import lit, snow_covered
from mezzotint_starter.scenes.recolouring import recoloured
from mezzotint_starter.scenes.sprites import Sprites
from mezzotint_starter.scenes.styles import ink
from mezzotint_starter.scenes.subjects import Subject
from mezzotint_starter.scenes.world import ComposedScene, Placement

SIZE = 256
OVERSAMPLE = 2
# Longer side of a thing and height of its foot, or of its middle if it flies, as shares of the image.
EXTENTS = {"small": (0.25, 0.72, 0.3), "medium": (0.43, 0.84, 0.34), "big": (0.66, 0.94, 0.45)}
CENTRES = {"left": 0.27, "middle": 0.5, "right": 0.73}
_CENTRES_OF_THREE = {"left": 0.19, "middle": 0.5, "right": 0.81}
_BIG_SHIFT = 0.6  # of a big thing, so that it stays in the image
_KEPT = 4096  # pictures in other colours


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Where a thing is in an image, in pixels."""

    left: int
    top: int
    width: int
    height: int


class ScenePainter:
    """Paints scenes with the pictures of one set; keeps those in other colours."""

    def __init__(self, sprites: Sprites) -> None:
        self._sprites = sprites
        self._picture: Callable[[Subject, str, str | None], Image.Image] = lru_cache(_KEPT)(self._uncached)

    def paint(self, scene: ComposedScene, size: int = SIZE) -> Image.Image:
        """Return a scene's image, `size` pixels square."""
        return self.painted(scene, size)[0]

    def painted(self, scene: ComposedScene, size: int = SIZE) -> tuple[Image.Image, list[Box]]:
        """Return a scene's image, and where its things are in it."""
        image, boxes = paint_scenery(scene.scenery, size), list[Box]()
        for number, placement in enumerate(scene.placements):
            boxes.append(self._paint_thing(image, scene, placement, random_of(scene.scenery, f"thing {number}")))
        if scene.style == "ink":
            image = ink(image)
        paint_weather(image, scene.scenery, random_of(scene.scenery, "weather"))
        return image, boxes

    def _paint_thing(self, image: Image.Image, scene: ComposedScene, placement: Placement, rng: random.Random) -> Box:
        picture = self._picture(placement.subject, scene.style, placement.colour)
        box = _box(picture, placement, len(scene.placements), image.width, rng)
        picture = picture.resize((box.width, box.height), Image.Resampling.BICUBIC, reducing_gap=2.0)
        scenery = scene.scenery
        _STANDS[placement.subject.stance](image, box, scenery)
        shown = lit(picture, scenery.time, scenery.weather)
        if scenery.weather == "snow" and placement.subject.stance == "standing":
            shown = snow_covered(shown, scenery.time)
        image.paste(shown, (box.left, box.top), shown)
        return box

    def _uncached(self, subject: Subject, style: str, colour: str | None) -> Image.Image:
        picture = self._sprites.picture(subject, style)
        return picture if colour is None else recoloured(picture, colour)


def paint_scenery(scenery: Scene, size: int) -> Image.Image:
    """Return sky and ground, drawn at twice the size and reduced."""
    image = paint_sky(scenery, size * OVERSAMPLE)
    paint_ground(image, scenery, random_of(scenery, "ground"))
    return image.reduce(OVERSAMPLE)


def paint_weather(image: Image.Image, scenery: Scene, rng: random.Random) -> None:
    """Paint rain or snow over everything."""
    if scenery.weather == "clear":
        return
    mask = Image.new("L", (image.width * OVERSAMPLE, image.height * OVERSAMPLE))
    draw, side = ImageDraw.Draw(mask), mask.width
    for _ in range(60):
        x, y = rng.uniform(0, side * 1.08), rng.uniform(-0.05, 1) * side
        if scenery.weather == "rain":
            draw.line([(x, y), (x - side * 0.028, y + side * 0.08)], fill=150, width=max(2, side // 128))
        else:
            radius = rng.uniform(0.006, 0.012) * side
            draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=235)
    colour = (214, 226, 242) if scenery.weather == "rain" else (255, 255, 255)
    image.paste(Image.new("RGB", image.size, colour), mask=mask.reduce(OVERSAMPLE))


def _box(picture: Image.Image, placement: Placement, count: int, side: int, rng: random.Random) -> Box:
    extent, foot, middle = EXTENTS[placement.size]
    centre = (_CENTRES_OF_THREE if count > 2 else CENTRES)[placement.side]
    if placement.size == "big":
        centre = 0.5 + (centre - 0.5) * _BIG_SHIFT
    longest = extent * rng.uniform(0.93, 1.07) * side
    scale = longest / max(picture.size)
    width, height = (max(1, round(each * scale)) for each in picture.size)
    x, shift = centre + rng.uniform(-0.03, 0.03), rng.uniform(-0.015, 0.015)
    if placement.subject.stance == "flying":
        top = (middle + 2 * shift) * side - height / 2
    else:
        top = (foot + shift) * side - height
    return Box(left=round(x * side - width / 2), top=round(top), width=width, height=height)


@lru_cache(1)
def _soft_disc() -> Image.Image:
    """A disc, dark in the middle, that fades to its edge."""
    at = np.linspace(-1, 1, 64, dtype=np.float32)
    inside = np.clip(1 - np.hypot(at[:, None], at[None]), 0, 1)
    return Image.fromarray((np.sqrt(inside) * 150).astype(np.uint8))


def _shade(image: Image.Image, box: Box, colour: Colour) -> None:
    width, height = max(2, round(box.width * 1.06)), max(2, round(box.width * 0.2))
    mask = _soft_disc().resize((width, height), Image.Resampling.BILINEAR)
    at = box.left + (box.width - width) // 2, box.top + box.height - round(height * 0.62)
    image.paste(Image.new("RGB", mask.size, colour), at, mask)


def _standing(image: Image.Image, box: Box, scenery: Scene) -> None:
    if scenery.terrain == "sea":
        _oval(image, box, ground_colour(SAND, scenery.time, scenery.weather), across=1.5, high=0.3)
    _shade(image, box, tinted((46, 44, 60), LIGHTS[scenery.time].ground))


def _floating(image: Image.Image, box: Box, scenery: Scene) -> None:
    water = mix(ground_sea(scenery), (255, 255, 255), 0.12)
    if scenery.terrain != "sea":
        _oval(image, box, water, across=1.5, high=0.32)
    for low, across in ((0.0, 1.24), (0.07, 0.9)):
        _oval(image, box, mix(water, (255, 255, 255), 0.3), across=across, high=0.035, low=low)


def _flying(image: Image.Image, box: Box, scenery: Scene) -> None:
    """Leave no shadow."""


_STANDS: dict[str, Callable[[Image.Image, Box, Scene], None]] = {
    "standing": _standing,
    "floating": _floating,
    "flying": _flying,
}


def _oval(image: Image.Image, box: Box, colour: Colour, *, across: float, high: float, low: float = 0.0) -> None:
    width, height = max(2, round(box.width * across)), max(2, round(box.width * high))
    mask = Image.new("L", (2 * width, 2 * height))
    ImageDraw.Draw(mask).ellipse([0, 0, 2 * width - 1, 2 * height - 1], fill=255)
    at = box.left + (box.width - width) // 2, box.top + box.height - height // 2 + round(low * box.width)
    image.paste(Image.new("RGB", (width, height), colour), at, mask.reduce(2))
