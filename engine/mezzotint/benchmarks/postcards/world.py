"""The scenes of the postcards: their attributes, random sampling, and held-out combinations."""

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
    """An object in a scene: its kind, colour and place."""

    kind: str
    colour: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A postcard's scene: everything a caption can state, and a seed for everything else."""

    terrain: str
    time: str
    weather: str
    things: tuple[Thing, ...]
    seed: int


def is_held_out(scene: Scene) -> bool:
    """Whether any thing's combination with terrain and time is held out for judging (one in eight)."""
    return any(_is_held_out(thing, scene.terrain, scene.time) for thing in scene.things)


def random_scene(rng: random.Random) -> Scene:
    """Return a random scene with one thing, including held-out combinations."""
    thing = Thing(kind=rng.choice(KINDS), colour=rng.choice(COLOURS), place=rng.choice(PLACES))
    return Scene(
        terrain=rng.choice(TERRAINS),
        time=rng.choice(TIMES),
        weather=rng.choices(WEATHERS, WEATHER_WEIGHTS)[0],
        things=(thing,),
        seed=rng.getrandbits(32),
    )


def training_scene(seed: int, index: int) -> Scene:
    """Return the training scene with this index: always the same, and never a held-out one."""
    return _first(random.Random(f"train {seed} {index}"), held_out=False)


def judging_scene(seed: int, index: int) -> Scene:
    """Return a scene with a held-out combination, for judging."""
    return _first(random.Random(f"judge {seed} {index}"), held_out=True)


def _first(rng: random.Random, *, held_out: bool) -> Scene:
    while True:
        scene = random_scene(rng)
        if is_held_out(scene) is held_out:
            return scene


def _is_held_out(thing: Thing, terrain: str, time: str) -> bool:
    key = "/".join((thing.kind, thing.colour, thing.place, terrain, time))
    return hashlib.sha256(key.encode()).digest()[0] % HELD_OUT_SHARE == 0
