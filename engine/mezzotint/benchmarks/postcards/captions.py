"""Captions of scenes: many wordings, most of which omit attributes, with the attributes that each one states."""

import random
from dataclasses import dataclass, fields

from mezzotint.benchmarks.postcards.wording import (
    FILLERS,
    KIND_WORDS,
    OPENINGS,
    PLACE_PHRASES,
    SIZE_WORDS,
    TERRAIN_NOUNS,
    TERRAIN_PHRASES,
    TIME_PHRASES,
    TIME_WORDS,
    WEATHER_ADJECTIVES,
    WEATHER_PHRASES,
    colour_word,
    with_article,
)
from mezzotint.benchmarks.postcards.world import (
    COLOURS,
    KINDS,
    PLACES,
    TERRAINS,
    TIMES,
    WEATHER_WEIGHTS,
    WEATHERS,
    Scene,
    Thing,
)

VALUES: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "colour": COLOURS,
    "place": PLACES,
    "terrain": TERRAINS,
    "time": TIMES,
    "weather": WEATHERS,
}


def chance(attribute: str) -> float:
    """Accuracy of the best blind guess: the frequency of the most common value."""
    if attribute == "weather":
        return max(WEATHER_WEIGHTS) / sum(WEATHER_WEIGHTS)
    return 1 / len(VALUES[attribute])


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedAttributes:
    """The attributes of scene and first thing that a caption states; None if omitted."""

    kind: str | None
    colour: str | None
    place: str | None
    terrain: str | None
    time: str | None
    weather: str | None

    def indices(self) -> dict[str, int]:
        """Return the index of each value, one past the last if omitted."""
        return {field.name: _index(VALUES[field.name], getattr(self, field.name)) for field in fields(self)}


def _index(values: tuple[str, ...], value: str | None) -> int:
    return len(values) if value is None else values.index(value)


def all_attributes(scene: Scene) -> StatedAttributes:
    """Return all attributes of a scene."""
    thing = scene.things[0]
    return StatedAttributes(
        kind=thing.kind,
        colour=thing.colour,
        place=thing.place,
        terrain=scene.terrain,
        time=scene.time,
        weather=scene.weather,
    )


def random_attributes(scene: Scene, rng: random.Random) -> StatedAttributes:
    """Choose attributes to state at random: nearly always the thing and its colour, the rest more often than not."""
    whole = all_attributes(scene)
    thing = rng.random() < 0.95
    return StatedAttributes(
        kind=whole.kind if thing else None,
        colour=whole.colour if thing and rng.random() < 0.85 else None,
        place=whole.place if thing and rng.random() < 0.5 else None,
        terrain=whole.terrain if rng.random() < 0.8 else None,
        time=whole.time if rng.random() < 0.75 else None,
        weather=whole.weather if rng.random() < (0.35 if whole.weather == "clear" else 0.85) else None,
    )


def random_caption(scene: Scene, rng: random.Random) -> tuple[str, StatedAttributes]:
    """Return a random caption of the scene and the attributes it states."""
    stated = random_attributes(scene, rng)
    style = rng.choice((_sentence, _sentence, _fronted, _scene_first, _tags))
    text = style(stated, scene.things[1:], rng)
    if not text:
        return random_caption(scene, rng)
    return _cased(_with_noise(text, rng), rng), stated


def _sentence(stated: StatedAttributes, others: tuple[Thing, ...], rng: random.Random) -> str:
    parts = [_subject(stated, others, rng), *_scene_parts(stated, rng)]
    return " ".join(part for part in parts if part)


def _fronted(stated: StatedAttributes, others: tuple[Thing, ...], rng: random.Random) -> str:
    scene = _scene_parts(stated, rng)
    rng.shuffle(scene)
    cut = rng.randrange(len(scene) + 1)
    front = " ".join(part for part in scene[:cut] if part)
    rest = " ".join(part for part in [_subject(stated, others, rng), *scene[cut:]] if part)
    return ", ".join(part for part in (front, rest) if part)


def _scene_first(stated: StatedAttributes, others: tuple[Thing, ...], rng: random.Random) -> str:
    words = []
    if stated.weather:
        words.append(rng.choice(WEATHER_ADJECTIVES[stated.weather]))
    words.append(rng.choice(TERRAIN_NOUNS[stated.terrain] if stated.terrain else ("landscape", "scene")))
    if stated.time:
        words.append(rng.choice(TIME_PHRASES[stated.time]))
    subject = _subject(stated, others, rng)
    joint = rng.choice((" with ", ", ", " and ")) if subject else ""
    return " ".join(words) + joint + subject


def _tags(stated: StatedAttributes, others: tuple[Thing, ...], rng: random.Random) -> str:
    tags = [_named(stated.kind, stated.colour, rng)] if stated.kind else []
    tags += [_named(other.kind, other.colour, rng) for other in others]
    if stated.place:
        tags.append(rng.choice(PLACE_PHRASES[stated.place]))
    if stated.terrain:
        tags.append(rng.choice(TERRAIN_NOUNS[stated.terrain]))
    if stated.time:
        tags.append(rng.choice(TIME_WORDS[stated.time]))
    if stated.weather:
        tags.append(rng.choice(WEATHER_ADJECTIVES[stated.weather]))
    rng.shuffle(tags)
    return rng.choice((", ", ", ", " ")).join(tags)


def _scene_parts(stated: StatedAttributes, rng: random.Random) -> list[str]:
    return [
        rng.choice(TERRAIN_PHRASES[stated.terrain]) if stated.terrain else "",
        rng.choice(TIME_PHRASES[stated.time]) if stated.time else "",
        rng.choice(WEATHER_PHRASES[stated.weather]) if stated.weather else "",
    ]


def _subject(stated: StatedAttributes, others: tuple[Thing, ...], rng: random.Random) -> str:
    if stated.kind is None:
        return ""
    size = stated.place in SIZE_WORDS and rng.random() < 0.4
    adjective = rng.choice(SIZE_WORDS[stated.place]) + " " if stated.place and size else ""
    words = [with_article(adjective + _named(stated.kind, stated.colour, rng), rng)]
    if stated.place and not size:
        words.append(rng.choice(PLACE_PHRASES[stated.place]))
    words += [f"and {with_article(_named(other.kind, other.colour, rng), rng)}" for other in others]
    return " ".join(words)


def _named(kind: str, colour: str | None, rng: random.Random) -> str:
    noun = rng.choice(KIND_WORDS[kind])
    return f"{colour_word(colour, rng)} {noun}" if colour else noun


def _with_noise(text: str, rng: random.Random) -> str:
    """Add openings, fillers and made-up words, so that the model learns to ignore unknown words."""
    if rng.random() < 0.25:
        text = f"{rng.choice(OPENINGS)} {text}"
    words = text.split(" ")
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        made_up = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(2, 8)))
        words.insert(rng.randrange(len(words) + 1), rng.choice((made_up, rng.choice(FILLERS))))
    return " ".join(words) + ("." if rng.random() < 0.1 else "")


def _cased(text: str, rng: random.Random) -> str:
    lot = rng.random()
    if lot < 0.15:
        return text[:1].upper() + text[1:]
    if lot < 0.2:
        return text.title()
    return text.upper() if lot < 0.23 else text
