"""Drawings of each kind of thing: flat, large, mostly in its own colour, about one unit high."""

from collections.abc import Callable
from dataclasses import dataclass

from mezzotint.benchmarks.postcards.brush import Brush
from mezzotint.benchmarks.postcards.palette import (
    GLASS,
    LAMP,
    LIGHTS,
    PAINT,
    STONE,
    WHITE,
    WOOD,
    Colour,
    mix,
    tinted,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paints:
    """Colours of a thing under the scene's light: lit side, shaded side, details."""

    main: Colour
    shade: Colour
    light: Colour
    window: Colour
    wood: Colour
    stone: Colour
    pale: Colour


def paints(colour: str, time: str) -> Paints:
    """Return the paints for a thing's colour at a time of day."""
    light = LIGHTS[time]
    main = tinted(PAINT[colour], light.thing)
    dark = (70, 70, 84) if colour == "black" else (0, 0, 0)
    return Paints(
        main=main,
        shade=mix(main, dark, 0.24),
        light=mix(main, WHITE, 0.22),
        window=LAMP if light.lamps else GLASS,
        wood=tinted(WOOD, light.thing),
        stone=tinted(STONE, light.thing),
        pale=tinted((244, 238, 226), light.thing),
    )


def draw_house(brush: Brush, paint: Paints) -> None:
    """A house with painted walls, a darker roof, a chimney and a lit door."""
    brush.box(0.2, 0.6, 0.34, 1.0, paint.stone)
    brush.box(-0.48, 0.0, 0.48, 0.56, paint.main)
    brush.polygon([(-0.6, 0.54), (0.6, 0.54), (0.36, 0.94), (-0.36, 0.94)], paint.shade)
    brush.box(-0.1, 0.0, 0.1, 0.36, paint.wood)
    for left in (-0.38, 0.2):
        brush.box(left, 0.2, left + 0.18, 0.4, paint.window)


def draw_boat(brush: Brush, paint: Paints) -> None:
    """A boat with a painted hull and two painted sails."""
    brush.box(-0.025, 0.2, 0.025, 1.06, paint.wood)
    brush.polygon([(0.05, 0.32), (0.05, 1.04), (0.5, 0.32)], paint.main)
    brush.polygon([(-0.05, 0.32), (-0.05, 0.9), (-0.42, 0.32)], paint.light)
    brush.polygon([(-0.62, 0.26), (0.66, 0.26), (0.44, 0.0), (-0.44, 0.0)], paint.main)
    brush.polygon([(-0.5, 0.09), (0.52, 0.09), (0.44, 0.0), (-0.44, 0.0)], paint.shade)


def draw_tree(brush: Brush, paint: Paints) -> None:
    """A round tree: a trunk under a crown of three balls."""
    brush.box(-0.08, 0.0, 0.08, 0.5, paint.wood)
    brush.oval(-0.5, 0.3, 0.14, 0.84, paint.shade)
    brush.oval(-0.14, 0.3, 0.5, 0.84, paint.main)
    brush.oval(-0.34, 0.46, 0.34, 1.08, paint.main)
    brush.oval(-0.22, 0.72, 0.1, 1.0, paint.light)


def draw_lighthouse(brush: Brush, paint: Paints) -> None:
    """A tall tapering tower with pale bands and a lamp."""
    brush.polygon([(-0.25, 0.0), (0.25, 0.0), (0.16, 0.96), (-0.16, 0.96)], paint.main)
    for low in (0.3, 0.68):
        half = 0.25 - 0.094 * low
        brush.polygon([(-half, low), (half, low), (half - 0.012, low + 0.13), (0.012 - half, low + 0.13)], paint.pale)
    brush.box(-0.21, 0.95, 0.21, 1.0, paint.stone)
    brush.box(-0.11, 1.0, 0.11, 1.16, paint.window)
    brush.polygon([(-0.17, 1.15), (0.17, 1.15), (0.0, 1.32)], paint.shade)


def draw_balloon(brush: Brush, paint: Paints) -> None:
    """A hot-air balloon: a large painted envelope, ropes and a basket."""
    for side in (-0.13, 0.13):
        brush.line((side * 2.2, 0.36), (side, 0.14), paint.wood, 0.02)
    brush.oval(-0.46, 0.3, 0.46, 1.2, paint.main)
    brush.polygon([(-0.36, 0.5), (0.36, 0.5), (0.15, 0.24), (-0.15, 0.24)], paint.main)
    brush.oval(-0.17, 0.26, 0.17, 1.2, paint.light)
    brush.box(-0.13, 0.0, 0.13, 0.15, paint.wood)


def draw_car(brush: Brush, paint: Paints) -> None:
    """A small car from the side."""
    brush.polygon([(-0.36, 0.36), (-0.22, 0.64), (0.2, 0.64), (0.4, 0.36)], paint.shade)
    brush.polygon([(-0.26, 0.38), (-0.17, 0.58), (-0.03, 0.58), (-0.03, 0.38)], paint.window)
    brush.polygon([(0.04, 0.38), (0.04, 0.58), (0.16, 0.58), (0.28, 0.38)], paint.window)
    brush.draw.rounded_rectangle(
        [brush.at((-0.64, 0.4)), brush.at((0.64, 0.12))], radius=0.1 * brush.unit, fill=paint.main
    )
    for x in (-0.36, 0.36):
        brush.oval(x - 0.15, 0.0, x + 0.15, 0.3, (28, 28, 34))
        brush.oval(x - 0.06, 0.09, x + 0.06, 0.21, paint.stone)


def draw_tent(brush: Brush, paint: Paints) -> None:
    """A ridge tent, its front open."""
    brush.polygon([(-0.66, 0.0), (0.66, 0.0), (0.0, 0.82)], paint.main)
    brush.polygon([(0.66, 0.0), (0.3, 0.0), (0.0, 0.82)], paint.shade)
    inside = paint.window if paint.window == LAMP else (52, 40, 40)
    brush.polygon([(-0.22, 0.0), (0.16, 0.0), (0.0, 0.56)], inside)
    brush.line((0.0, 0.8), (0.0, 0.94), paint.wood, 0.03)


def draw_castle(brush: Brush, paint: Paints) -> None:
    """A castle: a wall, a gate, two towers with pointed roofs."""
    brush.box(-0.4, 0.0, 0.4, 0.52, paint.main)
    for x in (-0.3, -0.1, 0.1, 0.3):
        brush.box(x - 0.05, 0.5, x + 0.05, 0.62, paint.main)
    for x in (-0.46, 0.46):
        brush.box(x - 0.15, 0.0, x + 0.15, 0.8, paint.main)
        brush.polygon([(x - 0.21, 0.78), (x + 0.21, 0.78), (x, 1.16)], paint.shade)
        brush.box(x - 0.04, 0.48, x + 0.04, 0.66, paint.window)
    brush.box(-0.13, 0.0, 0.13, 0.24, paint.wood)
    brush.oval(-0.13, 0.12, 0.13, 0.36, paint.wood)


DRAWERS: dict[str, Callable[[Brush, Paints], None]] = {
    "house": draw_house,
    "boat": draw_boat,
    "tree": draw_tree,
    "lighthouse": draw_lighthouse,
    "balloon": draw_balloon,
    "car": draw_car,
    "tent": draw_tent,
    "castle": draw_castle,
}
