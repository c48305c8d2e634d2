import hashlib
import random

import pytest

from mezzotint.benchmarks.postcards.captions import VALUES, all_attributes, random_caption
from mezzotint.benchmarks.postcards.painting import SIZE, paint
from mezzotint.benchmarks.postcards.palette import PAINT
from mezzotint.benchmarks.postcards.world import (
    COLOURS,
    KINDS,
    PLACES,
    TERRAINS,
    TIMES,
    Scene,
    Thing,
    is_held_out,
    judging_scene,
    random_scene,
    training_scene,
)

SPLIT = "378331ad8622"


def scene_of(*things, terrain="meadow", time="day", weather="clear"):
    return Scene(terrain=terrain, time=time, weather=weather, things=things, seed=5)


def test_a_scene_and_its_image_are_the_same_every_time():
    assert training_scene(3, 17) == training_scene(3, 17)
    assert training_scene(3, 17) != training_scene(3, 18)
    scene = training_scene(3, 17)
    assert paint(scene).tobytes() == paint(scene).tobytes()


def test_images_of_the_world_are_small_squares_in_colour():
    image = paint(training_scene(0, 0))
    assert (image.size, image.mode) == ((SIZE, SIZE), "RGB")


def test_every_combination_can_be_painted():
    for kind in KINDS:
        for place in PLACES:
            for terrain in TERRAINS:
                weather = random.Random(kind + place + terrain).choice(("clear", "rain", "snow"))
                paint(scene_of(Thing(kind=kind, colour="red", place=place), terrain=terrain, weather=weather))


def test_at_least_a_tenth_of_the_combinations_is_held_out():
    scenes = [random_scene(random.Random(index)) for index in range(4000)]
    share = sum(map(is_held_out, scenes)) / len(scenes)
    assert 0.1 <= share <= 0.15


def test_training_never_sees_a_held_out_scene_and_judging_sees_no_other():
    assert not any(is_held_out(training_scene(1, index)) for index in range(2000))
    assert all(is_held_out(judging_scene(1, index)) for index in range(200))


def test_the_held_out_split_is_the_same_on_every_machine():
    split = "".join(str(int(is_held_out(random_scene(random.Random(index))))) for index in range(400))
    assert hashlib.sha256(split.encode()).hexdigest().startswith(SPLIT)


def test_a_second_thing_can_be_held_out_and_is_painted_and_told():
    things = Thing(kind="house", colour="red", place="left"), Thing(kind="tree", colour="green", place="right")
    alone, both = scene_of(things[0]), scene_of(*things)
    assert paint(alone).tobytes() != paint(both).tobytes()
    assert any("tree" in random_caption(both, random.Random(seed))[0] for seed in range(20))


@pytest.mark.parametrize("colour", COLOURS)
def test_a_near_tent_shows_its_colour_by_day(colour):
    image = paint(scene_of(Thing(kind="tent", colour=colour, place="near")))
    seen = image.getpixel((48, 112))
    assert max(abs(a - b) for a, b in zip(seen, PAINT[colour], strict=True)) < 12


def test_places_are_where_they_say():
    plain = {place: paint(scene_of(Thing(kind="tent", colour="red", place=place))) for place in PLACES}

    def reds(place):
        pixels = plain[place].load()
        return [x for x in range(SIZE) for y in range(SIZE) if pixels[x, y][0] > 180 and max(pixels[x, y][1:]) < 70]

    def middle(place):
        return sum(reds(place)) / len(reds(place))

    assert middle("left") < SIZE * 0.4 < SIZE * 0.6 < middle("right")
    assert len(reds("far")) * 2 < len(reds("left")) < len(reds("near"))


def test_night_is_darker_than_day():
    thing = Thing(kind="house", colour="white", place="left")
    day, night = (paint(scene_of(thing, time=time)).convert("L") for time in ("day", "night"))
    assert sum(night.tobytes()) * 2 < sum(day.tobytes())


def test_captions_tell_the_truth_and_often_not_the_whole():
    rng, silent = random.Random(1), 0
    for index in range(500):
        scene = training_scene(0, index)
        _, told = random_caption(scene, rng)
        whole = all_attributes(scene)
        for name in VALUES:
            assert getattr(told, name) in (None, getattr(whole, name))
            silent += getattr(told, name) is None
    assert 0.15 < silent / (500 * len(VALUES)) < 0.6


def test_captions_name_the_colour_and_kind_that_they_tell():
    rng = random.Random(2)
    for index in range(300):
        text, told = random_caption(training_scene(0, index), rng)
        if told.kind == "tent":
            assert "tent" in text.lower()
        others = {colour for colour in ("orange", "white") if colour != told.colour}
        assert not others & set(text.lower().replace(",", " ").replace(".", " ").split())


def test_told_values_have_numbers_and_silence_has_the_last():
    whole = all_attributes(scene_of(Thing(kind="boat", colour="black", place="far"), time=TIMES[2]))
    assert whole.indices()["time"] == 2
    assert whole.indices()["kind"] == KINDS.index("boat")
