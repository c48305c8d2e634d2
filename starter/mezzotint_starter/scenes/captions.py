"""Captions of composed scenes: many wordings, most of which omit something, with what each one states."""

import random
from dataclasses import dataclass

from mezzotint.benchmarks.postcards.wording import (
    TERRAIN_NOUNS,
    TERRAIN_PHRASES,
    TIME_PHRASES,
    TIME_WORDS,
    WEATHER_ADJECTIVES,
    WEATHER_PHRASES,
    colour_word,
)
from mezzotint_starter.scenes.wording import (
    BESIDE,
    FAR_PHRASES,
    FILLERS,
    LEFT_OF,
    NEAR_PHRASES,
    NUMBER_WORDS,
    OPENINGS,
    RIGHT_OF,
    SIDE_PHRASES,
    SIZE_WORDS,
    STYLE_WORDS,
    is_plural,
    plural,
)
from mezzotint_starter.scenes.world import ComposedScene, Placement

_SYNONYM_SHARE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedThing:
    """What a caption says of one thing; None: nothing."""

    name: str
    colour: str | None
    size: str | None
    side: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFacts:
    """What a caption says of a scene: its things in the order in which they are mentioned; None if omitted."""

    things: tuple[StatedThing, ...]
    number: int
    terrain: str | None
    time: str | None
    weather: str | None
    style: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    text: str
    things: tuple[StatedThing, ...] = ()


def random_caption(scene: ComposedScene, rng: random.Random) -> tuple[str, StatedFacts]:
    """Return a random caption of the scene and what it states."""
    subject = _subject(scene, rng)
    told = _Scenery.chosen(scene, rng, all_of_it=not subject.text)
    wording = rng.choice((_sentence, _sentence, _fronted, _scene_first, _tags))
    text = _with_style(wording(subject.text, told, rng), told.style, rng)
    facts = StatedFacts(
        things=subject.things,
        number=len(scene.placements),
        terrain=told.terrain,
        time=told.time,
        weather=told.weather,
        style=told.style,
    )
    return _cased(_disturbed(text, rng), rng), facts


def plain_caption(scene: ComposedScene) -> str:
    """Return one caption that states all of the scene in the plainest words."""
    rng = random.Random(0)
    subject = _subject(scene, rng, everything=True).text
    place, weather = TERRAIN_PHRASES[scene.scenery.terrain][0], scene.scenery.weather
    words = [subject, place, TIME_PHRASES[scene.scenery.time][0]]
    words += [] if weather == "clear" else [WEATHER_PHRASES[weather][0]]
    style = "" if scene.style == "solid" else f", {STYLE_WORDS[scene.style][0]}"
    return " ".join(word for word in words if word) + style


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scenery:
    """What is said of the scenery and the style."""

    terrain: str | None
    time: str | None
    weather: str | None
    style: str | None

    @classmethod
    def chosen(cls, scene: ComposedScene, rng: random.Random, *, all_of_it: bool) -> "_Scenery":
        scenery = scene.scenery
        weather = rng.random() < (0.3 if scenery.weather == "clear" else 0.9)
        return cls(
            terrain=scenery.terrain if all_of_it or rng.random() < 0.8 else None,
            time=scenery.time if all_of_it or rng.random() < 0.75 else None,
            weather=scenery.weather if weather else None,
            style=scene.style if rng.random() < (0.2 if scene.style == "solid" else 0.95) else None,
        )

    def phrases(self, rng: random.Random) -> list[str]:
        phrases = [TERRAIN_PHRASES[self.terrain]] if self.terrain else []
        phrases += [TIME_PHRASES[self.time]] if self.time else []
        phrases += [WEATHER_PHRASES[self.weather]] if self.weather else []
        return [rng.choice(each) for each in phrases]


def _sentence(subject: str, told: _Scenery, rng: random.Random) -> str:
    return " ".join(part for part in (subject, *told.phrases(rng)) if part)


def _fronted(subject: str, told: _Scenery, rng: random.Random) -> str:
    phrases = told.phrases(rng)
    rng.shuffle(phrases)
    cut = rng.randrange(len(phrases) + 1)
    front, rest = " ".join(phrases[:cut]), " ".join(part for part in (subject, *phrases[cut:]) if part)
    return ", ".join(part for part in (front, rest) if part)


def _scene_first(subject: str, told: _Scenery, rng: random.Random) -> str:
    words = [rng.choice(WEATHER_ADJECTIVES[told.weather])] if told.weather else []
    words.append(rng.choice(TERRAIN_NOUNS[told.terrain] if told.terrain else ("landscape", "scene")))
    words += [rng.choice(TIME_PHRASES[told.time])] if told.time else []
    return " ".join(words) + (rng.choice((" with ", ", ", " and ")) + subject if subject else "")


def _tags(subject: str, told: _Scenery, rng: random.Random) -> str:
    tags = [subject] if subject else []
    tags += [rng.choice(TERRAIN_NOUNS[told.terrain])] if told.terrain else []
    tags += [rng.choice(TIME_WORDS[told.time])] if told.time else []
    tags += [rng.choice(WEATHER_ADJECTIVES[told.weather])] if told.weather else []
    rng.shuffle(tags)
    return ", ".join(tags)


def _subject(scene: ComposedScene, rng: random.Random, *, everything: bool = False) -> _Phrase:
    if not scene.placements:
        return _Phrase(text="")
    if scene.is_number:
        return _number(scene.placements, rng, everything=everything)
    if len(scene.placements) == 1:
        return _alone(scene.placements[0], rng, everything=everything)
    return _pair(scene.placements, rng, everything=everything)


def _alone(placement: Placement, rng: random.Random, *, everything: bool) -> _Phrase:
    named = _named(placement, rng, everything=everything, size=0.45)
    side = placement.side if everything or rng.random() < (0.3 if placement.side == "middle" else 0.6) else None
    text = named.text
    if named.things[0].size is None and not everything and rng.random() < 0.1 and placement.size != "medium":
        text += " " + rng.choice(FAR_PHRASES if placement.size == "small" else NEAR_PHRASES)
        named = _with(named, size=placement.size)
    if side:
        text += " " + _first_or_any(SIDE_PHRASES[side], rng, everything)
    return _Phrase(text=text, things=_with(named, side=side).things)


def _pair(placements: tuple[Placement, ...], rng: random.Random, *, everything: bool) -> _Phrase:
    turned = not everything and rng.random() < 0.5
    first, second = (
        _named(each, rng, everything=everything, size=0.35) for each in (placements[::-1] if turned else placements)
    )
    placed = everything or rng.random() < 0.5
    wordings = (RIGHT_OF if turned else LEFT_OF) if placed else BESIDE
    text = _first_or_any(wordings, rng, everything).format(first=first.text, second=second.text)
    sides = (("right", "left") if turned else ("left", "right")) if placed else (None, None)
    return _Phrase(text=text, things=_with(first, side=sides[0]).things + _with(second, side=sides[1]).things)


def _number(placements: tuple[Placement, ...], rng: random.Random, *, everything: bool) -> _Phrase:
    one = placements[0]
    colour = one.colour if everything or rng.random() < 0.95 else None
    words = [_first_or_any(NUMBER_WORDS[len(placements)], rng, everything)]
    words += [colour if everything else colour_word(colour, rng)] if colour else []
    words.append(plural(one.subject.name if everything else _name(one, rng)))
    thing = StatedThing(name=one.subject.name, colour=colour, size=None, side=None)
    return _Phrase(text=" ".join(words), things=(thing,))


def _named(placement: Placement, rng: random.Random, *, everything: bool, size: float) -> _Phrase:
    said = placement.size if placement.size != "medium" and (everything or rng.random() < size) else None
    colour = placement.colour if everything or rng.random() < 0.95 else None
    words = [_first_or_any(SIZE_WORDS[said], rng, everything)] if said else []
    words += [colour if everything else colour_word(colour, rng)] if colour else []
    words.append(placement.subject.name if everything else _name(placement, rng))
    thing = StatedThing(name=placement.subject.name, colour=colour, size=said, side=None)
    return _Phrase(text=_with_article(" ".join(words), rng, plain=everything), things=(thing,))


def _with(phrase: _Phrase, **said: str | None) -> _Phrase:
    (thing,) = phrase.things
    values = {"name": thing.name, "colour": thing.colour, "size": thing.size, "side": thing.side} | said
    return _Phrase(text=phrase.text, things=(StatedThing(**values),))  # type: ignore[arg-type]  # the name stays


def _name(placement: Placement, rng: random.Random) -> str:
    others = placement.subject.synonyms
    return rng.choice(others) if others and rng.random() < _SYNONYM_SHARE else placement.subject.name


def _first_or_any(words: tuple[str, ...], rng: random.Random, first: bool) -> str:
    return words[0] if first else rng.choice(words)


def _with_article(words: str, rng: random.Random, *, plain: bool) -> str:
    lot = 1.0 if plain else rng.random()
    if is_plural(words) or lot < 0.12:
        return words
    if lot < 0.2:
        return f"the {words}"
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _with_style(text: str, style: str | None, rng: random.Random) -> str:
    if style is None:
        return text
    words = rng.choice(STYLE_WORDS[style])
    return f"{text}, {words}" if rng.random() < 0.7 else f"{words}, {text}"


def _disturbed(text: str, rng: random.Random) -> str:
    """Add openings, fillers and made-up words, so that the model learns to ignore unknown words."""
    if rng.random() < 0.2:
        text = f"{rng.choice(OPENINGS)} {text}"
    words = text.split(" ")
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        made_up = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(2, 8)))
        words.insert(rng.randrange(len(words) + 1), rng.choice((made_up, rng.choice(FILLERS))))
    return " ".join(words) + ("." if rng.random() < 0.1 else "")


def _cased(text: str, rng: random.Random) -> str:
    lot = rng.random()
    if lot < 0.12:
        return text[:1].upper() + text[1:]
    if lot < 0.15:
        return text.title()
    return text.upper() if lot < 0.17 else text
