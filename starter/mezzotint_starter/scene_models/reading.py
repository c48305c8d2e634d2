"""The tokenizer and the text encoder of the composed scenes: it learns who has which colour, size and side."""

import logging
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transformers import T5EncoderModel, T5Tokenizer

from mezzotint.benchmarks.postcards.palette import PAINT
from mezzotint.benchmarks.postcards.world import TERRAINS, TIMES, WEATHERS
from mezzotint.training.distributed import Processes
from mezzotint_starter.networks import build_text_encoder
from mezzotint_starter.randomness import step_random
from mezzotint_starter.scene_models.networks import TEXT_LAYERS, WIDTH
from mezzotint_starter.scene_models.source import SceneSource
from mezzotint_starter.scenes.captions import StatedFacts, random_caption
from mezzotint_starter.scenes.world import MOST, SIDES, SIZES, STYLES
from mezzotint_starter.text_encoder_training import BATCH, Lessons, train_text_encoder
from mezzotint_starter.vocabulary import train_tokenizer

LOG = logging.getLogger("mezzotint_starter")
PHASE = "reading"
PIECES = 3072  # so that every thing's name and most synonyms are a piece
_CAPTIONS = 60000
_ROLES = ("first", "second")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A tokenizer and its text encoder."""

    tokenizer: T5Tokenizer
    encoder: T5EncoderModel


def trained_reader(source: SceneSource, work: Path, *, steps: int, device: str, parts: int) -> tuple[Reader, float]:
    """Run the phase; returns the reader and its accuracy over what new captions say."""
    tokenizer = _tokenizer(source, work / "tokenizer")
    encoder = build_text_encoder(source.seed, len(tokenizer), width=WIDTH, layers=TEXT_LAYERS)
    accuracy = train_text_encoder(
        encoder,
        tokenizer,
        work,
        seed=source.seed,
        steps=steps,
        device=device,
        parts=parts,
        lessons=reading_lessons(source),
    )
    LOG.info("the text encoder reads %.4f of what captions say", accuracy)
    return Reader(tokenizer=tokenizer, encoder=encoder), accuracy


def _tokenizer(source: SceneSource, folder: Path) -> T5Tokenizer:
    # Unigram training is not deterministic (its sums run in parallel), so the first result is kept.
    with Processes.of_environment().after_the_first():
        if not (folder / "tokenizer.json").exists():
            rng = random.Random(f"tokenizer {source.seed}")
            texts = (random_caption(source.training(index), rng)[0] for index in range(_CAPTIONS))
            train_tokenizer(texts, PIECES).save_pretrained(folder)
    return T5Tokenizer.from_pretrained(folder)


def reading_lessons(source: SceneSource) -> Lessons:
    """Return what is asked about captions: both things' names, colours, sizes and sides, and the scene."""
    values: dict[str, tuple[str, ...]] = {}
    for role in _ROLES:
        values[role] = tuple(subject.name for subject in source.subjects)
        values |= {f"{role} colour": tuple(PAINT), f"{role} size": SIZES, f"{role} side": SIDES}
    values |= {"number": tuple(str(number) for number in range(MOST + 1))}
    values |= {"terrain": TERRAINS, "time": TIMES, "weather": WEATHERS, "style": STYLES}
    places = {name: {value: place for place, value in enumerate(each)} for name, each in values.items()}

    def batch(seed: int, step: int) -> tuple[list[str], list[Mapping[str, int]]]:
        rng = step_random(seed, PHASE, step)
        pairs = [random_caption(source.training(rng.getrandbits(40)), rng) for _ in range(BATCH)]
        return [text for text, _ in pairs], [_placed(said(facts), places) for _, facts in pairs]

    return Lessons(values=values, batch=batch)


def said(facts: StatedFacts) -> dict[str, str | None]:
    """Return what a caption says, by attribute."""
    told: dict[str, str | None] = {}
    for role, thing in zip(_ROLES, (*facts.things, None, None), strict=False):
        told[role] = None if thing is None else thing.name
        for name in ("colour", "size", "side"):
            told[f"{role} {name}"] = None if thing is None else getattr(thing, name)
    scenery = {name: getattr(facts, name) for name in ("terrain", "time", "weather", "style")}
    return told | scenery | {"number": str(facts.number)}


def _placed(told: Mapping[str, str | None], places: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {name: len(each) if (value := told[name]) is None else each[value] for name, each in places.items()}
