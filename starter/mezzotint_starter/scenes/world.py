"""Composed scenes: up to three things in drawn scenery; random ones, and combinations held out for judging."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from mezzotint.benchmarks.postcards.palette import PAINT
from mezzotint.benchmarks.postcards.world import TERRAINS, TIMES, WEATHER_WEIGHTS, WEATHERS, Scene
from mezzotint_starter.scenes.subjects import Subject
from mezzotint_starter.scenes.wording import is_plural

SIDES = ("left", "middle", "right")
SIZES = ("small", "medium", "big")
STYLES = ("solid", "flat", "ink")
STYLE_WEIGHTS = (13, 4, 2)
HELD_OUT_SHARE = 10
MOST = 3  # of the same thing
_COLOURED_SHARE = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A thing in a scene: `colour` is None for that of its picture."""

    subject: Subject
    colour: str | None
    side: str
    size: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedScene:
    """A scene: its scenery (with terrain, time, weather and seed), its things, if any, and the picture's style.

    Several placements of one subject are a number of it: they differ in their side alone.
    """

    scenery: Scene
    placements: tuple[Placement, ...]
    style: str

    @property
    def is_number(self) -> bool:
        """Whether all things are the same one."""
        return len(self.placements) > 1 and len({each.subject.code for each in self.placements}) == 1


def is_held_out(scene: ComposedScene) -> bool:
    """Whether a thing's combination with its colour, the terrain and the time is held out for judging (one in ten)."""
    return any(_is_held_out(each, scene.scenery) for each in scene.placements)


def training_scene(subjects: Sequence[Subject], seed: int, index: int) -> ComposedScene:
    """Return the training scene with this index: always the same, and never a held-out one."""
    return _first(subjects, random.Random(f"train {seed} {index}"), held_out=False)


def judging_scene(subjects: Sequence[Subject], seed: int, index: int) -> ComposedScene:
    """Return a scene with a held-out combination, for judging."""
    return _first(subjects, random.Random(f"judge {seed} {index}"), held_out=True)


def random_scene(subjects: Sequence[Subject], rng: random.Random) -> ComposedScene:
    """Return a random scene, including held-out combinations."""
    scenery = Scene(
        terrain=rng.choice(TERRAINS),
        time=rng.choice(TIMES),
        weather=rng.choices(WEATHERS, WEATHER_WEIGHTS)[0],
        things=(),
        seed=rng.getrandbits(32),
    )
    arrange = rng.choices((_alone, _pair, _number, _nothing), (58, 26, 13, 3))[0]
    return ComposedScene(
        scenery=scenery, placements=arrange(subjects, rng), style=rng.choices(STYLES, STYLE_WEIGHTS)[0]
    )


def _alone(subjects: Sequence[Subject], rng: random.Random) -> tuple[Placement, ...]:
    size = rng.choices(SIZES, (1, 2, 2))[0]
    return (_placed(rng.choice(subjects), rng, side=rng.choice(SIDES), size=size),)


def _pair(subjects: Sequence[Subject], rng: random.Random) -> tuple[Placement, ...]:
    first, second = rng.sample(range(len(subjects)), 2)
    sizes = rng.choice((("medium", "medium"), ("medium", "medium"), ("small", "medium"), ("medium", "small")))
    return (
        _placed(subjects[first], rng, side="left", size=sizes[0]),
        _placed(subjects[second], rng, side="right", size=sizes[1]),
    )


def _number(subjects: Sequence[Subject], rng: random.Random) -> tuple[Placement, ...]:
    count = rng.randint(2, MOST)
    counted = [subject for subject in subjects if not is_plural(subject.name)]
    one = _placed(rng.choice(counted), rng, side="left", size="medium" if count == 2 else "small")
    sides = ("left", "right") if count == 2 else SIDES
    return tuple(Placement(subject=one.subject, colour=one.colour, side=side, size=one.size) for side in sides)


def _nothing(subjects: Sequence[Subject], rng: random.Random) -> tuple[Placement, ...]:  # noqa: ARG001
    return ()


def _placed(subject: Subject, rng: random.Random, *, side: str, size: str) -> Placement:
    given = subject.coloured and rng.random() < _COLOURED_SHARE
    return Placement(subject=subject, colour=rng.choice(tuple(PAINT)) if given else None, side=side, size=size)


def _first(subjects: Sequence[Subject], rng: random.Random, *, held_out: bool) -> ComposedScene:
    while True:
        scene = random_scene(subjects, rng)
        if is_held_out(scene) is held_out:
            return scene


def _is_held_out(placement: Placement, scenery: Scene) -> bool:
    key = "/".join((placement.subject.name, placement.colour or "", scenery.terrain, scenery.time))
    return hashlib.sha256(key.encode()).digest()[0] % HELD_OUT_SHARE == 0
