"""Score images of held-out scenes by the judge's verdicts and by comparison with drawn images."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from PIL import Image

from mezzotint.benchmarks.postcards.captions import VALUES, StatedAttributes, all_attributes, chance, random_caption
from mezzotint.benchmarks.postcards.edits import Edit, judging_edit
from mezzotint.benchmarks.postcards.judge import Judge, pixels_of
from mezzotint.benchmarks.postcards.layout import OTHERS, follows_layout
from mezzotint.benchmarks.postcards.measures import Array, detail, frechet_distance, wilson_interval
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.wording import TERRAIN_PHRASES, TIME_PHRASES
from mezzotint.benchmarks.postcards.world import TERRAINS, TIMES, Scene, judging_scene
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError

WORLD = 0  # seed of the scenes, the same for all models


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCase:
    """A held-out scene, and a prompt that states all its attributes."""

    number: int
    prompt: str
    scene: Scene
    edit: Edit | None = None  # the edit that the prompt asks for, of a reference image
    drawn: bool = False  # the image is to follow the scene's drawing, whose place the prompt does not state


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Accuracy of an attribute, with its 95 % interval and the accuracy of the best blind guess."""

    accuracy: float
    chance: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Scores of a set of images."""

    attributes: dict[str, Share]
    frechet: float  # squared Frechet distance in the judge's features to drawn images of the same scenes
    detail: float  # mean absolute Laplacian of the luminance, relative to the drawn images'
    seconds: float | None  # compute time per image; None for drawn images
    images: int
    edits: dict[str, Share] | None = None  # the edited attribute is right ("edited"), all attributes are ("all")
    layout: Share | None = None  # the image follows its drawing's edges more closely than other drawings' of the scene


def eval_cases(count: int) -> Iterator[EvalCase]:
    """Yield the first `count` cases, which never change."""
    for number in range(count):
        scene = judging_scene(WORLD, number)
        yield EvalCase(number=number, prompt=_telling(scene, number, all_attributes(scene)), scene=scene)


def edit_cases(count: int) -> Iterator[EvalCase]:
    """Yield the first `count` edits, which never change: an instruction, and the scene after it."""
    for number in range(count):
        edit = judging_edit(WORLD, number)
        yield EvalCase(number=number, prompt=edit.instruction, scene=edit.after, edit=edit)


def layout_cases(count: int) -> Iterator[EvalCase]:
    """Yield the first `count` scenes with prompts that state all but the place, for images that follow a drawing."""
    for number in range(count):
        scene = judging_scene(WORLD, number)
        stated = replace(all_attributes(scene), place=None)
        yield EvalCase(number=number, prompt=_telling(scene, number, stated), scene=scene, drawn=True)


def word_cases(word: str, kind: str, colour: str, count: int) -> Iterator[EvalCase]:
    """Yield scenes of a thing that a LoRA has learned under a new word, in every terrain and at every time.

    Raises UsageError for a kind or colour that the judge does not know.
    """
    for name, value in (("kind", kind), ("colour", colour)):
        if value not in VALUES[name]:
            raise UsageError(f"the judge knows no {name} {plain(value, 40)!r}; it knows {', '.join(VALUES[name])}")
    for number in range(count):
        terrain, time = TERRAINS[number % len(TERRAINS)], TIMES[number % len(TIMES)]
        scene = judging_scene(WORLD, number)
        thing = replace(scene.things[0], kind=kind, colour=colour, place="near")
        prompt = f"a {word} {TERRAIN_PHRASES[terrain][1]} {TIME_PHRASES[time][2]}"
        scene = replace(scene, things=(thing,), terrain=terrain, time=time, weather="clear")
        yield EvalCase(number=number, prompt=prompt, scene=scene)


def _telling(scene: Scene, number: int, wanted: StatedAttributes) -> str:
    """Return the first of the scene's random captions that states these attributes."""
    rng = random.Random(f"bench {WORLD} {number}")
    while True:
        prompt, stated = random_caption(scene, rng)
        if stated == wanted:
            return prompt


class Scorer:
    """Accumulates scores of images, each compared with a drawn one of the same scene and size."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._right = dict.fromkeys(VALUES, 0)
        self._edits = {"edited": 0, "all": 0}
        self._are_edits = False
        self._followed: list[bool] = []
        self._made: list[Array] = []
        self._drawn: list[Array] = []
        self._detail_made = self._detail_drawn = 0.0
        self._seconds: list[float] = []

    def add(self, case: EvalCase, image: Image.Image, seconds: float | None = None) -> None:
        """Score an image, given the time it took to generate."""
        if image.width != image.height:
            raise UsageError(f"the judge needs square images, not {image.width}x{image.height}; use a square --size")
        drawn = paint(case.scene, image.width)
        made_features, drawn_features = self._features(case, image, drawn)
        self._made.append(made_features)
        self._drawn.append(drawn_features)
        if case.drawn:
            self._followed.append(follows_layout(image, case.scene))
        self._detail_made += detail(image)
        self._detail_drawn += detail(drawn)
        if seconds is not None:
            self._seconds.append(seconds)

    @torch.no_grad()
    def _features(self, case: EvalCase, image: Image.Image, drawn: Image.Image) -> tuple[Array, Array]:
        features = self._judge.features(pixels_of([image, drawn]))
        truth = all_attributes(case.scene).indices()
        verdicts = self._judge.verdicts(features[:1]).items()
        right = {name: int(scores.argmax()) == truth[name] for name, scores in verdicts}
        for name, is_right in right.items():
            self._right[name] += is_right
        if case.edit is not None:
            self._are_edits = True
            self._edits["edited"] += right[case.edit.attribute]
            self._edits["all"] += all(right.values())
        made, held = features.double().numpy()
        return made, held

    def score(self) -> Score:
        """Return the score of the images so far, at least two."""
        asked = len(self._made)
        return Score(
            attributes={name: _share(right, asked, chance(name)) for name, right in self._right.items()},
            frechet=frechet_distance(np.stack(self._made), np.stack(self._drawn)),
            detail=self._detail_made / self._detail_drawn,
            seconds=sum(self._seconds) / len(self._seconds) if self._seconds else None,
            images=asked,
            edits={name: _share(right, asked, 0.0) for name, right in self._edits.items()} if self._are_edits else None,
            layout=_share(sum(self._followed), asked, 1 / (OTHERS + 1)) if self._followed else None,
        )


def _share(right: int, asked: int, blind: float) -> Share:
    low, high = wilson_interval(right, asked)
    return Share(accuracy=right / asked, chance=blind, low=low, high=high)


def score_drawn(judge: Judge, cases: Iterable[EvalCase]) -> Score:
    """Score other drawings of the same scenes: what a perfect model would reach with this judge."""
    scorer = Scorer(judge)
    for case in cases:
        again = replace(case.scene, seed=case.scene.seed ^ 1)
        scorer.add(replace(case, drawn=False), paint(again))
    return scorer.score()
