"""How well a model draws held-out scenes, according to the judge: things, colours, the scene, and the number."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from PIL.Image import Image

from mezzotint_starter.scene_models.scene_judge import SLOTS, SceneJudge, Values, seen_pixels
from mezzotint_starter.scene_models.scene_judge_training import UNASKED, true_answers
from mezzotint_starter.scene_models.source import SceneSource
from mezzotint_starter.scenes.captions import plain_caption
from mezzotint_starter.scenes.world import ComposedScene

LOG = logging.getLogger("mezzotint_starter")
_CHUNK = 16
Found = Mapping[str, int]


def score(
    draw: Callable[[Sequence[str]], list[Image]], judge: SceneJudge, values: Values, source: SceneSource, count: int
) -> dict[str, float]:
    """Draw the plain captions of `count` held-out scenes; returns the share of right answers by question.

    "thing" is of images of one thing or a number of it, "both things" of pairs, "colour" of things with one.
    """
    totals: dict[str, list[bool]] = {}
    for start in range(0, count, _CHUNK):
        scenes = [source.judging(index) for index in range(start, min(start + _CHUNK, count))]
        answers = answers_about(judge, draw([plain_caption(scene) for scene in scenes]))
        for scene, found in zip(scenes, answers, strict=True):
            for name, right in verdicts(scene, found, values).items():
                totals.setdefault(name, []).append(right)
    return {name: round(sum(rights) / len(rights), 4) for name, rights in totals.items()}


@torch.no_grad()
def answers_about(judge: SceneJudge, images: Sequence[Image]) -> list[dict[str, int]]:
    """Return the judge's answer to each question about each image, as a place among its values."""
    device = next(judge.parameters()).device
    scores = {name: each.argmax(dim=-1).tolist() for name, each in judge(seen_pixels(images).to(device)).items()}
    return [{name: each[at] for name, each in scores.items()} for at in range(len(images))]


def verdicts(scene: ComposedScene, found: Found, values: Values) -> dict[str, bool]:
    """Return what of a scene an image shows, by kind of question."""
    wanted = dict(zip(values, true_answers(scene, values), strict=True))
    right = {name: found[name] == answer for name, answer in wanted.items() if answer != UNASKED}
    told = {name: right[name] for name in ("terrain", "time", "weather", "style", "number")}
    if scene.placements:
        several = len(scene.placements) > 1 and not scene.is_number
        told["both things" if several else "thing"] = all(right[slot] for slot in SLOTS[: len(scene.placements)])
        coloured = [right[f"{slot} colour"] for slot in SLOTS if f"{slot} colour" in right]
        told |= {"colour": all(coloured)} if coloured else {}
    return told


def write_scores(scores: Mapping[str, float], path: Path) -> None:
    """Log the shares and write them as JSON."""
    LOG.info("%s: %s", path.stem, ", ".join(f"{name} {share:.3f}" for name, share in scores.items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dict(scores), indent=1) + "\n", encoding="utf-8")
