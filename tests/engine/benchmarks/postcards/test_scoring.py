"""Scores of images whose truth is known."""

import itertools
import math

import pytest
import torch

from mezzotint.benchmarks.postcards.captions import VALUES, all_attributes
from mezzotint.benchmarks.postcards.judge import build_judge
from mezzotint.benchmarks.postcards.measures import wilson_interval
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.scoring import Scorer, edit_cases, eval_cases, score_drawn, word_cases
from mezzotint.benchmarks.postcards.world import TERRAINS, TIMES, is_held_out
from mezzotint.errors import UsageError


@pytest.fixture
def judge():
    return build_judge(0).eval()


@pytest.fixture
def knowing(judge, monkeypatch):
    """A judge that sees every attribute of the question that is asked next, but no colour."""
    asked = []

    def verdicts(features):
        truth = all_attributes(asked[-1].scene).indices()
        scores = {name: torch.eye(len(values))[[truth[name]]] for name, values in VALUES.items()}
        return scores | {"colour": torch.eye(10)[[(truth["colour"] + 1) % 10]]}

    monkeypatch.setattr(judge, "verdicts", verdicts)
    return judge, asked


def test_questions_are_the_same_for_ever_held_out_and_tell_all():
    asked = list(eval_cases(12))
    assert asked == list(eval_cases(20))[:12]
    assert [case.number for case in asked] == list(range(12))
    assert all(is_held_out(case.scene) for case in asked)
    assert len({case.prompt for case in asked}) == 12
    assert all(len(case.prompt.split()) >= 6 for case in asked)


def test_a_new_word_is_asked_for_everywhere_and_at_every_time():
    cases = list(word_cases("zibble", "castle", "purple", 20))
    assert {(case.scene.terrain, case.scene.time) for case in cases} == set(itertools.product(TERRAINS, TIMES))
    assert all(case.prompt.startswith("a zibble ") for case in cases)
    assert {(case.scene.things[0].kind, case.scene.things[0].colour) for case in cases} == {("castle", "purple")}
    with pytest.raises(UsageError, match="the judge knows no kind 'dragon'; it knows house"):
        next(word_cases("zibble", "dragon", "purple", 1))


def test_shares_count_what_the_judge_saw(knowing):
    judge, asked = knowing
    scorer = Scorer(judge)
    for case in eval_cases(3):
        asked.append(case)
        scorer.add(case, paint(case.scene), 2.0 * case.number)
    score = scorer.score()
    assert list(score.attributes) == list(VALUES)
    assert score.attributes["kind"].accuracy == 1
    assert score.attributes["colour"].accuracy == 0
    assert (score.attributes["kind"].low, score.attributes["kind"].high) == wilson_interval(3, 3)
    assert score.attributes["colour"].chance == 0.1
    assert (score.seconds, score.images) == (2.0, 3)


def test_edits_count_the_edited_attribute_and_all(knowing):
    judge, asked = knowing
    scorer = Scorer(judge)
    for case in edit_cases(5):  # one of each attribute
        asked.append(case)
        scorer.add(case, paint(case.scene))
    edits = scorer.score().edits
    assert {name: share.accuracy for name, share in edits.items()} == {"edited": 0.8, "all": 0.0}  # not the colour
    assert case.edit.after == case.scene


@pytest.mark.parametrize("size", [128, 64, 256])
def test_the_drawn_images_themselves_are_at_no_distance_and_as_detailed(judge, size):
    scorer = Scorer(judge)
    for case in eval_cases(3):
        scorer.add(case, paint(case.scene, size))
    score = scorer.score()
    assert score.frechet == pytest.approx(0, abs=1e-5)
    assert score.detail == 1
    assert score.seconds is None


def test_blurred_images_are_further_off_and_less_detailed(judge):
    scorer = Scorer(judge)
    for case in eval_cases(3):
        scorer.add(case, paint(case.scene).resize((16, 16)).resize((128, 128)))
    score = scorer.score()
    assert score.frechet > 1e-5
    assert score.detail < 0.6


def test_other_drawings_of_the_scenes_are_other_images_of_much_the_same(judge):
    score = score_drawn(judge, eval_cases(4))
    assert score.frechet > 0
    assert math.isclose(score.detail, 1, abs_tol=0.2)
    assert score.images == 4


def test_an_image_that_is_not_square_is_refused(judge):
    case = next(eval_cases(1))
    with pytest.raises(UsageError, match="not 128x96; use a square --size"):
        Scorer(judge).add(case, paint(case.scene).crop((0, 0, 128, 96)))
