"""What a training will be, and how far it is, in plain words."""

import os

import pytest
from train_made import FOLDER as DATASET
from train_made import check, image, problem, request, run_info

from mezzotint.training_protocol import Preparing, TrainingStep
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.train.texts import (
    before_start,
    captions_line,
    failure_words,
    fraction,
    problems_text,
    state_words,
    title_of,
)

FOLDER = "/loras/castle.training"


def test_one_line_before_the_start():
    assert before_start(check(), 0.6) == "3 images, 100 steps, about 60 s, 3.0 MB on disk"
    assert "known after the first steps" in before_start(check(), None)
    assert before_start(check(values=None, disk_bytes=0), None) == "3 images"


def test_captions_are_counted():
    assert captions_line(check()) == "2 of 3 images have captions."
    assert captions_line(check(image(0, "a"), image(1, "b"))) == "All of 2 images have captions."


def test_problems_of_the_folder_are_told_and_those_of_images_counted():
    path = f"{DATASET}{os.sep}lost.txt"
    found = check(problems=(problem(0), problem(path=path, message=f"{path} is a caption without an image")))
    text = problems_text(found, DATASET)
    assert text == "lost.txt is a caption without an image\n1 image has a warning sign: point at it to read why."
    assert problems_text(check(problem="no model"), DATASET) == "no model"


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (run_info(lora="/loras/castle.safetensors", step=40), "Finished after 40 steps."),
        (run_info(), "Paused after step 20 of 40."),
        (run_info(steps=0), "Paused after step 20 of ?."),
    ],
)
def test_a_run_at_rest(works, info, words):
    works.list(info)
    assert state_words(works.runs, info) == words
    assert fraction(works.runs, info) == (info.step / info.steps if info.steps else 0.0)
    assert title_of(info) == "castle (base)"


def test_a_running_one(works):
    works.runs.begin(request())
    info = works.runs.get(FOLDER)
    assert state_words(works.runs, info) and fraction(works.runs, info) is None
    works.lender.let()
    assert state_words(works.runs, info) == "Preparing…"
    for phase in ("dataset", "regularization", "captions", "images"):
        works.engine.event(Preparing(phase=phase, done=1, total=4))
        assert state_words(works.runs, info).endswith("1 of 4") and fraction(works.runs, info) == 0.25
    works.engine.event(Preparing(phase="loading", done=0, total=0))
    assert state_words(works.runs, info) == "Loading the model" and fraction(works.runs, info) is None
    works.engine.event(TrainingStep(step=10, steps=40, loss=0.5, rate=1e-3, seconds=2))
    assert state_words(works.runs, info) == "Step 10 of 40, about 60 s left" and fraction(works.runs, info) == 0.25
    works.runs.stop()
    assert state_words(works.runs, info) == "Pausing after this step…"
    works.engine.fail("cancelled")
    works.list(run_info())
    assert state_words(works.runs, run_info()) == "Stopped after step 20 of 40."


def test_a_failed_one_says_what_to_do(works):
    works.list(run_info())
    works.runs.resume(FOLDER)
    works.lender.let()
    works.engine.fail("gone", "killed by the system")
    words = state_words(works.runs, run_info())
    assert "killed by the system" in words and words.endswith("the run can be resumed.")


def test_changed_images_are_not_told_in_terms_of_the_command_line():
    words = failure_words(Failure(kind="dataset_changed", message="use --accept-changes"))
    assert "--" not in words and "resume with the images as they are now" in words
