from dataclasses import replace

import numpy as np
import pytest
from drawn_things import SUBJECTS, DrawnSprites

from mezzotint.benchmarks.postcards.world import Scene
from mezzotint_starter.scenes.painting import ScenePainter, paint_scenery
from mezzotint_starter.scenes.world import ComposedScene, Placement

SIDE = 64
SCENERY = Scene(terrain="meadow", time="day", weather="clear", things=(), seed=5)
PAINTER = ScenePainter(DrawnSprites())


def scene(*placements, style="solid", **scenery):
    return ComposedScene(scenery=replace(SCENERY, **scenery), placements=placements, style=style)


def thing(at=0, *, side="middle", size="medium", colour=None):
    return Placement(subject=SUBJECTS[at], colour=colour, side=side, size=size)


def pixels(image):
    return np.asarray(image, dtype=float)


def test_images_are_the_same_each_time():
    drawn = scene(thing(colour="blue"), weather="rain")
    assert PAINTER.paint(drawn, SIDE).tobytes() == ScenePainter(DrawnSprites()).paint(drawn, SIDE).tobytes()
    assert PAINTER.paint(scene(thing(), seed=6), SIDE) != PAINTER.paint(scene(thing()), SIDE)


@pytest.mark.parametrize("at", range(len(SUBJECTS)))
@pytest.mark.parametrize(("side", "low", "high"), [("left", 0.15, 0.4), ("middle", 0.4, 0.6), ("right", 0.6, 0.85)])
def test_things_are_where_they_are_said_to_be(at, side, low, high):
    image, (box,) = PAINTER.painted(scene(thing(at, side=side)), SIDE)
    assert low < (box.left + box.width / 2) / SIDE < high
    changed = np.abs(pixels(image) - pixels(paint_scenery(SCENERY, SIDE))).sum(axis=-1) > 30
    inside = changed[max(0, box.top) : box.top + box.height, max(0, box.left) : box.left + box.width]
    assert inside.sum() > 0.5 * box.width * box.height


def test_sizes_differ():
    widths = [PAINTER.painted(scene(thing(size=size)), SIDE)[1][0].width for size in ("small", "medium", "big")]
    assert widths == sorted(widths)
    assert widths[2] > 2 * widths[0]


def test_colours_are_those_asked_for():
    def middle(colour):
        image, (box,) = PAINTER.painted(scene(thing(colour=colour, size="big")), SIDE)
        return pixels(image)[box.top + box.height // 2, box.left + box.width // 2]

    assert middle("red")[0] > 2 * middle("red")[2]
    assert middle("blue")[2] > 2 * middle("blue")[0]
    assert middle("black").max() < 90
    assert middle("white").min() > 200


def test_light_weather_and_style_change_the_image():
    usual = pixels(PAINTER.paint(scene(thing()), SIDE))
    others = [{"time": "night"}, {"weather": "rain"}, {"weather": "snow"}, {"style": "flat"}, {"style": "ink"}]
    images = [pixels(PAINTER.paint(scene(thing(), **each), SIDE)) for each in others]
    assert all(np.abs(image - usual).mean() > 1 for image in images)
    assert images[0].mean() < 0.6 * usual.mean()
    assert images[4].mean() > usual.mean()
