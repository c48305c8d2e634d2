"""Edits of scenes: an instruction that changes one attribute, and the scene after it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mezzotint.benchmarks.postcards.captions import VALUES, all_attributes
from mezzotint.benchmarks.postcards.wording import KIND_WORDS, TERRAIN_PHRASES
from mezzotint.benchmarks.postcards.world import Scene, is_held_out, judging_scene, training_scene

EDITABLE = ("time", "weather", "colour", "kind", "terrain")
_WEATHER = {
    "clear": ("make the sky clear", "clear the sky", "make the weather clear"),
    "rain": ("make it rain", "let it rain", "add rain"),
    "snow": ("make it snow", "let it snow", "add snow"),
}
_TIME = ("make it {value}", "change the time to {value}", "turn it into {value}")
_COLOUR = ("make the {noun} {value}", "paint the {noun} {value}", "change the colour of the {noun} to {value}")
_KIND = ("replace the {noun} with {value}", "turn the {noun} into {value}", "change the {noun} to {value}")
_TERRAIN = ("put the {noun} {place}", "move the {noun}, now {place}", "make it {place}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A scene, an instruction that changes one of its attributes, and the scene after it."""

    before: Scene
    after: Scene
    attribute: str
    instruction: str


def training_edit(seed: int, index: int) -> Edit:
    """Return the training edit with this index; neither of its scenes is held out."""
    rng = random.Random(f"edit {seed} {index}")
    return next(edit for edit in _edits(training_scene(seed, index), rng) if not is_held_out(edit.after))


def judging_edit(seed: int, index: int) -> Edit:
    """Return an edit from a held-out scene to another held-out scene, for judging; attributes take turns."""
    rng = random.Random(f"judge edit {seed} {index}")
    attribute = EDITABLE[index % len(EDITABLE)]
    while True:
        before = judging_scene(seed, rng.getrandbits(40))
        edit = edit_scene(before, attribute, rng)
        if is_held_out(edit.after):
            return edit


def edit_scene(scene: Scene, attribute: str, rng: random.Random) -> Edit:
    """Change an attribute of a scene to another value at random, and word the instruction."""
    present = getattr(all_attributes(scene), attribute)
    value = rng.choice([each for each in VALUES[attribute] if each != present])
    after = _changed(scene, attribute, value)
    return Edit(before=scene, after=after, attribute=attribute, instruction=_instruction(scene, attribute, value, rng))


def _changed(scene: Scene, attribute: str, value: str) -> Scene:
    thing, *others = scene.things
    match attribute:
        case "kind":
            return replace(scene, things=(replace(thing, kind=value), *others))
        case "colour":
            return replace(scene, things=(replace(thing, colour=value), *others))
        case "time":
            return replace(scene, time=value)
        case "weather":
            return replace(scene, weather=value)
    return replace(scene, terrain=value)


def _edits(scene: Scene, rng: random.Random) -> Iterator[Edit]:
    while True:
        yield edit_scene(scene, rng.choice(EDITABLE), rng)


def _instruction(scene: Scene, attribute: str, value: str, rng: random.Random) -> str:
    noun = rng.choice(KIND_WORDS[scene.things[0].kind])
    if attribute == "weather":
        return rng.choice(_WEATHER[value])
    if attribute == "terrain":
        return rng.choice(_TERRAIN).format(noun=noun, place=rng.choice(TERRAIN_PHRASES[value]))
    if attribute == "kind":
        other = rng.choice(KIND_WORDS[value])
        article = "an" if other[0] in "aeiou" else "a"
        return rng.choice(_KIND).format(noun=noun, value=f"{article} {other}")
    return rng.choice(_COLOUR if attribute == "colour" else _TIME).format(noun=noun, value=value)
