"""Paint a scene: scenery, then its things, then the weather; drawn at twice the size and downscaled."""

import random

from PIL import Image, ImageDraw

from mezzotint.benchmarks.postcards.brush import Brush
from mezzotint.benchmarks.postcards.landscape import ground_sea, paint_ground, paint_sky, paint_weather, random_of
from mezzotint.benchmarks.postcards.palette import SAND, ground_colour, mix
from mezzotint.benchmarks.postcards.things import DRAWERS, paints
from mezzotint.benchmarks.postcards.world import Scene, Thing

SIZE = 128
OVERSAMPLE = 2

# place: horizontal centre, foot and size of the thing, as fractions of the image; a balloon's foot is in the sky.
PLACING = {
    "left": (0.29, 0.84, 0.4),
    "right": (0.71, 0.84, 0.4),
    "near": (0.5, 0.92, 0.56),
    "far": (0.5, 0.71, 0.24),
}
BALLOON_FOOT = {"left": 0.6, "right": 0.6, "near": 0.72, "far": 0.36}


def paint(scene: Scene, size: int = SIZE) -> Image.Image:
    """Return a scene's image, `size` pixels square, identical on every machine.

    Each layer has its own random numbers, so that a scene that differs in one attribute looks the same in the rest.
    """
    image = paint_sky(scene, size * OVERSAMPLE)
    paint_ground(image, scene, random_of(scene, "ground"))
    for number, thing in enumerate(scene.things):
        _paint_thing(image, scene, thing, random_of(scene, f"thing {number}"))
    paint_weather(image, scene, random_of(scene, "weather"))
    return image.resize((size, size), Image.Resampling.BOX)


def _paint_thing(image: Image.Image, scene: Scene, thing: Thing, rng: random.Random) -> None:
    x, foot, unit = PLACING[thing.place]
    if thing.kind == "balloon":
        foot = BALLOON_FOOT[thing.place]
    x, foot, unit = x + rng.uniform(-0.03, 0.03), foot + rng.uniform(-0.015, 0.015), unit * rng.uniform(0.94, 1.06)
    size = image.width
    brush = Brush(draw=ImageDraw.Draw(image, "RGBA"), x=x * size, y=foot * size, unit=unit * size)
    if thing.kind == "boat":
        _paint_water(brush, scene)
    elif thing.kind != "balloon":
        _paint_standing_ground(brush, scene)
    DRAWERS[thing.kind](brush, paints(thing.colour, scene.time))


def _paint_water(brush: Brush, scene: Scene) -> None:
    water = mix(ground_sea(scene), (255, 255, 255), 0.12)
    if scene.terrain != "sea":
        brush.oval(-0.86, -0.16, 0.86, 0.14, water)
        return
    for low, half in ((-0.04, 0.6), (-0.11, 0.4)):
        brush.box(-half, low - 0.015, half, low + 0.015, mix(water, (255, 255, 255), 0.3))


def _paint_standing_ground(brush: Brush, scene: Scene) -> None:
    if scene.terrain == "sea":
        brush.oval(-0.86, -0.17, 0.86, 0.13, ground_colour(SAND, scene.time, scene.weather))
    else:
        brush.draw.ellipse([brush.at((-0.62, 0.05)), brush.at((0.62, -0.09))], fill=(0, 0, 0, 56))
