"""Train the judge of composed scenes; of shredded and blurred ones it learns that they show nothing."""

import logging
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageFilter
from torch import Tensor
from torch.nn import functional

from mezzotint_starter.augmentation import augment
from mezzotint_starter.randomness import step_random
from mezzotint_starter.scene_models.scene_judge import (
    NOTHING,
    SIDE,
    SLOTS,
    SceneJudge,
    Values,
    build_scene_judge,
    save_scene_judge,
    seen_pixels,
    values_of,
)
from mezzotint_starter.scene_models.source import SceneSource
from mezzotint_starter.scenes.world import ComposedScene
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train

LOG = logging.getLogger("mezzotint_starter")
PHASE = "judge"
BATCH = 64
SPOILT_SHARE = 0.2
UNASKED = -100  # label of a question that has no answer
_CHUNK = 64


def make_scene_judge(
    source: SceneSource, work: Path, out: Path, *, steps: int, device: str, parts: int, examined: int = 1024
) -> dict[str, float]:
    """Run the phase, and write the judge; returns how often it is right on held-out drawings, by question.

    "shredded" and "blurred" say how often it sees that such drawings show nothing.
    """
    values = values_of(source.subjects)
    judge = train_scene_judge(source, work, PHASE, steps=steps, device=device, parts=parts)
    right = examine(judge, source, values, device=device, count=examined)
    for name, share in right.items():
        LOG.info("judge of %s: %.4f right", name, share)
    save_scene_judge(judge, values, out, {"steps": steps, "seed": source.seed, "accuracy": right})
    return right


def train_scene_judge(
    source: SceneSource, work: Path, phase: str, *, steps: int, device: str, parts: int
) -> SceneJudge:
    """Run a phase of that name, which decides the start and the scenes; returns the judge with averaged weights."""
    values = values_of(source.subjects)
    judge = build_scene_judge(values, step_random(source.seed, phase, 0).getrandbits(32)).to(device).train()
    schedule = TrainingSchedule(phase=phase, steps=steps, peak_lr=2e-3, parts=parts, ema_decay=0.995)

    def loss_at(step: int, shard: slice) -> Tensor:
        pixels, answers = judge_batch(source, values, step, range(BATCH)[shard], phase)
        return answers_loss(judge(pixels.to(device)), answers.to(device))

    train(Trainer(judge, schedule), work / f"{phase}.safetensors", loss_at)
    return judge.eval()


def judge_batch(
    source: SceneSource, values: Values, step: int, rows: range, phase: str = PHASE
) -> tuple[Tensor, Tensor]:
    """Return rows of a step's batch: pixels (b, 3, 128, 128) of new scenes, and answers (b, questions)."""
    images, answers = [], []
    for row in rows:  # seeded per row, so that rows do not depend on how many threads share the batch
        rng = step_random(source.seed, f"{phase} {row}", step)
        scene = source.training(rng.getrandbits(40))
        image, spoilt = source.painter.paint(scene, SIDE), rng.random() < SPOILT_SHARE
        images.append(rng.choice((shredded, blurred))(image, rng) if spoilt else augment(image, rng))
        answers.append(spoilt_answers(values) if spoilt else true_answers(scene, values))
    return seen_pixels(images), torch.tensor(answers)


def true_answers(scene: ComposedScene, values: Values) -> list[int]:
    """Return the answers to all questions about a scene, as places among their values."""
    told: dict[str, str | None] = {"number": str(len(scene.placements)), "style": scene.style}
    told |= {name: getattr(scene.scenery, name) for name in ("terrain", "time", "weather")}
    for at, slot in enumerate(SLOTS):
        # Of three of a kind, the first and the last.
        placed = scene.placements[-at] if len(scene.placements) > at else None
        told[slot] = placed.subject.name if placed else NOTHING
        told[f"{slot} colour"], told[f"{slot} size"] = (placed.colour, placed.size) if placed else (None, None)
    return [UNASKED if (value := told[name]) is None else each.index(value) for name, each in values.items()]


def spoilt_answers(values: Values) -> list[int]:
    """Return the answers about an image in which nothing can be recognized."""
    return [each.index(NOTHING) if name in SLOTS else UNASKED for name, each in values.items()]


def answers_loss(scores: Mapping[str, Tensor], answers: Tensor) -> Tensor:
    """Return the mean cross-entropy of the questions that have an answer."""
    losses = []
    for place, logits in enumerate(scores.values()):
        asked = (answers[:, place] != UNASKED).sum().clamp(min=1)
        losses.append(functional.cross_entropy(logits, answers[:, place], reduction="sum") / asked)
    return torch.stack(losses).mean()


def shredded(image: Image.Image, rng: random.Random, *, tiles: int | None = None) -> Image.Image:
    """Return the image cut into equal tiles that are laid in another order: all colours, no shapes."""
    count = tiles or rng.choice((8, 16))
    side = image.width // count
    pixels = np.asarray(image)[: side * count, : side * count].reshape(count, side, count, side, 3)
    cut = pixels.transpose(0, 2, 1, 3, 4).reshape(count * count, side, side, 3)
    order = list(range(count * count))
    rng.shuffle(order)
    laid = cut[order].reshape(count, count, side, side, 3).transpose(0, 2, 1, 3, 4)
    return Image.fromarray(laid.reshape(side * count, side * count, 3)).resize(image.size)


def blurred(image: Image.Image, rng: random.Random, *, radius: float | None = None) -> Image.Image:
    """Return the image so blurred that no shape remains; `radius` is a share of its width."""
    share = rng.uniform(0.04, 0.08) if radius is None else radius
    return image.filter(ImageFilter.GaussianBlur(share * image.width))


@torch.no_grad()
def examine(judge: SceneJudge, source: SceneSource, values: Values, *, device: str, count: int) -> dict[str, float]:
    """Return the share of right answers about held-out drawings, and about spoilt ones."""
    right = _share_right(judge, source, values, lambda image, _: image, true_answers, device=device, count=count)
    shares = dict(zip(values, right, strict=True))
    for name, spoil in (("shredded", shredded), ("blurred", blurred)):
        found = _share_right(judge, source, values, spoil, _nothing_said, device=device, count=count // 4)
        shares[name] = min(share for question, share in zip(values, found, strict=True) if question in SLOTS)
    return {name: round(share, 4) for name, share in shares.items()}


def _nothing_said(scene: ComposedScene, values: Values) -> list[int]:  # noqa: ARG001  as true_answers
    return spoilt_answers(values)


def _share_right(
    judge: SceneJudge,
    source: SceneSource,
    values: Values,
    change: Callable[[Image.Image, random.Random], Image.Image],
    answers_of: Callable[[ComposedScene, Values], list[int]],
    *,
    device: str,
    count: int,
) -> list[float]:
    right, asked = torch.zeros(len(values)), torch.zeros(len(values))
    for start in range(0, count, _CHUNK):
        scenes = [source.judging(number) for number in range(start, min(start + _CHUNK, count))]
        images = [change(source.painter.paint(scene), random.Random(at)) for at, scene in enumerate(scenes, start)]
        answers = torch.tensor([answers_of(scene, values) for scene in scenes])
        scores = judge(seen_pixels(images).to(device))
        found = torch.stack([each.argmax(dim=-1).cpu() for each in scores.values()], dim=1)
        right += ((found == answers) & (answers != UNASKED)).sum(dim=0)
        asked += (answers != UNASKED).sum(dim=0)
    return (right / asked.clamp(min=1)).tolist()
