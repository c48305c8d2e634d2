"""The postcards: which scenes exist, how one is drawn by lot, and which combinations are never trained on."""

import hashlib
import random
from dataclasses import dataclass

TERRAINS = ("sea", "meadow", "desert", "mountains", "forest")
TIMES = ("dawn", "day", "dusk", "night")
WEATHERS = ("clear", "rain", "snow")
KINDS = ("house", "boat", "tree", "lighthouse", "balloon", "car", "tent", "castle")
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "white", "black", "brown")
PLACES = ("left", "right", "near", "far")

WEATHER_WEIGHTS = (3, 1, 1)
HELD_OUT_SHARE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One object of a scene: what it is, its colour, and where it stands."""

    kind: str
    colour: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One postcard: everything a caption can say, and the seed of everything that it cannot."""

    terrain: str
    time: str
    weather: str
    things: tuple[Thing, ...]
    seed: int


def is_held_out(scene: Scene) -> bool:
    """Whether any thing's combination with the terrain and time is kept for judging (one in eight)."""
    return any(_is_held_out(thing, scene.terrain, scene.time) for thing in scene.things)


def random_scene(rng: random.Random) -> Scene:
    """A scene of one thing, every attribute by lot, held-out combinations included."""
    thing = Thing(kind=rng.choice(KINDS), colour=rng.choice(COLOURS), place=rng.choice(PLACES))
    return Scene(
        terrain=rng.choice(TERRAINS),
        time=rng.choice(TIMES),
        weather=rng.choices(WEATHERS, WEATHER_WEIGHTS)[0],
        things=(thing,),
        seed=rng.getrandbits(32),
    )


def training_scene(seed: int, index: int) -> Scene:
    """The training scene of that number: the same for ever, and never a held-out one."""
    return _first(random.Random(f"train {seed} {index}"), held_out=False)


def judging_scene(seed: int, index: int) -> Scene:
    """A scene of a held-out combination, for judging."""
    return _first(random.Random(f"judge {seed} {index}"), held_out=True)


def _first(rng: random.Random, *, held_out: bool) -> Scene:
    while True:
        scene = random_scene(rng)
        if is_held_out(scene) is held_out:
            return scene


def _is_held_out(thing: Thing, terrain: str, time: str) -> bool:
    key = "/".join((thing.kind, thing.colour, thing.place, terrain, time))
    return hashlib.sha256(key.encode()).digest()[0] % HELD_OUT_SHARE == 0
