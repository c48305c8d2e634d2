import random

import numpy as np
import torch
from drawn_things import SUBJECTS, small_source

from mezzotint_starter.scene_models.scene_judge import (
    NOTHING,
    SIDE,
    build_scene_judge,
    load_scene_judge,
    save_scene_judge,
    values_of,
)
from mezzotint_starter.scene_models.scene_judge_training import (
    answers_loss,
    blurred,
    judge_batch,
    shredded,
    spoilt_answers,
    true_answers,
)

VALUES = values_of(SUBJECTS)
SOURCE = small_source()


def named(answers):
    return {name: each[answer] for (name, each), answer in zip(VALUES.items(), answers, strict=True) if answer >= 0}


def test_the_answers_are_those_of_the_scene():
    for index in range(60):
        scene = SOURCE.training(index)
        told, names = named(true_answers(scene, VALUES)), [each.subject.name for each in scene.placements]
        assert told["number"] == str(len(names))
        assert told["left"] == (names[0] if names else NOTHING)
        assert told["right"] == (names[-1] if len(names) > 1 else NOTHING)
        assert told.get("left colour") == (scene.placements[0].colour if names else None)
        assert (told["terrain"], told["style"]) == (scene.scenery.terrain, scene.style)


def test_of_spoilt_images_the_answer_is_that_they_show_nothing():
    assert named(spoilt_answers(VALUES)) == {"left": NOTHING, "right": NOTHING}
    _, answers = judge_batch(SOURCE, VALUES, 0, range(40))
    spoilt = (answers[:, list(VALUES).index("terrain")] < 0).float().mean()
    assert 0.05 < spoilt < 0.4


def test_shredded_images_have_the_same_pixels_elsewhere():
    image = SOURCE.painter.paint(SOURCE.training(0), SIDE)
    made = shredded(image, random.Random(0), tiles=8)
    before, after = np.asarray(image).reshape(-1, 3), np.asarray(made).reshape(-1, 3)
    assert np.array_equal(np.sort(before, axis=0), np.sort(after, axis=0))
    assert (before != after).any(axis=1).mean() > 0.5


def test_blurred_images_have_no_edges():
    image = SOURCE.painter.paint(SOURCE.training(1), SIDE)
    steps = [
        np.abs(np.diff(np.asarray(each, dtype=float), axis=0)).max()
        for each in (image, blurred(image, random.Random(0)))
    ]
    assert steps[1] < steps[0] / 4


def test_questions_without_an_answer_do_not_count():
    scores = {"left": torch.zeros(2, 3), "number": torch.tensor([[9.0, 0.0], [0.0, 9.0]])}
    assert answers_loss(scores, torch.tensor([[-100, 0], [-100, -100]])).item() < 1e-3
    assert answers_loss(scores, torch.tensor([[-100, 1], [-100, 1]])).item() > 1


def test_a_saved_judge_answers_the_same(tmp_path):
    judge = build_scene_judge(VALUES, 0).eval()
    save_scene_judge(judge, VALUES, tmp_path, {"steps": 1})
    again, values = load_scene_judge(tmp_path)
    pixels, _ = judge_batch(SOURCE, VALUES, 0, range(2))
    with torch.no_grad():
        first, second = judge(pixels), again(pixels)
    assert list(values) == list(first) == list(VALUES)
    assert all(torch.allclose(first[name], second[name], atol=0.02) for name in first)
