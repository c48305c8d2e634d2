import json

import pytest
import torch
from drawn_things import SUBJECTS, small_source

from mezzotint_starter.scene_models.scene_judge import values_of
from mezzotint_starter.scene_models.scene_judge_training import true_answers
from mezzotint_starter.scene_models.scoring import score, verdicts, write_scores

VALUES = values_of(SUBJECTS)
SOURCE = small_source()


class Seer(torch.nn.Module):
    """Answers for the scenes 0, 1, 2..., or, if it is blind, the first value to every question."""

    def __init__(self, *, blind=False):
        super().__init__()
        self.anywhere, self.blind, self.seen = torch.nn.Parameter(torch.zeros(1)), blind, 0

    def forward(self, pixels):
        scenes = [SOURCE.judging(self.seen + at) for at in range(len(pixels))]
        self.seen += len(pixels)
        answers = [[0] * len(VALUES) if self.blind else true_answers(scene, VALUES) for scene in scenes]
        places = torch.tensor(answers).clamp(min=0).T
        return {
            name: torch.nn.functional.one_hot(each, len(VALUES[name]))
            for name, each in zip(VALUES, places, strict=True)
        }


@pytest.mark.parametrize("blind", [False, True])
def test_shares_are_of_what_the_judge_finds(tmp_path, blind):
    asked = []

    def draw(prompts):
        asked.extend(prompts)
        return [SOURCE.painter.paint(SOURCE.judging(0), 32) for _ in prompts]

    scores = score(draw, Seer(blind=blind), VALUES, SOURCE, 40)
    assert len(asked) == 40
    assert scores.keys() >= {"thing", "both things", "colour", "terrain", "time", "weather", "number"}
    assert all(
        share < 0.6 if blind else share == 1 for name, share in scores.items() if name not in ("weather", "style")
    )
    write_scores(scores, tmp_path / "scores.json")
    assert json.loads((tmp_path / "scores.json").read_text()) == scores


def test_both_things_of_a_pair_must_be_right():
    pair = next(
        scene for scene in map(SOURCE.judging, range(100)) if len(scene.placements) == 2 and not scene.is_number
    )
    found = dict(zip(VALUES, true_answers(pair, VALUES), strict=True))
    assert verdicts(pair, found, VALUES)["both things"]
    wrong = {**found, "right": (found["right"] + 1) % len(SUBJECTS)}
    assert not verdicts(pair, wrong, VALUES)["both things"]
    assert "thing" not in verdicts(pair, found, VALUES)
