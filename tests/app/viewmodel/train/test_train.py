"""The form of the Train page: checked, summed up, started, and what prevents that."""

from pathlib import Path

import pytest
from fake_engine import model_info
from train_made import FOLDER, TrainWorks, check, plan, run_info

from mezzotint_app.viewmodel.train.state import TrainForm


def test_at_first_nothing_can_be_started(tmp_path):
    works = TrainWorks(tmp_path)
    works.clock.advance(1)
    assert not works.model.can_start() and not works.model.begin() and list(works.model.problems()) == ["folder"]
    assert works.model.summary() == "" and works.librarian.open("training_check") == []


def test_a_folder_is_checked_with_the_first_usable_model(tmp_path):
    works = TrainWorks(tmp_path)
    works.model.use_folder(FOLDER)
    assert works.model.summary() == "Reading the images…"
    works.clock.advance(1)
    asked = works.librarian.last("training_check").params
    assert (asked.dataset, asked.model.id, asked.output) == (FOLDER, "base", "/loras")
    works.librarian.answer(check(), "training_check")
    assert works.model.summary().startswith("3 images, 100 steps") and works.model.note() == ""
    works.planner.answer(plan(), "training_plan")
    assert works.model.note().startswith("Memory: 6.0 GB of 8.0 GB")
    assert works.model.can_start() and works.model.dataset.rowCount() == 3


@pytest.mark.parametrize("path", ["/pictures", "/pictures/a.PNG", "/pictures/a.txt"])
def test_a_dropped_file_stands_for_its_folder(works, path):
    works.model.use_path(path)
    assert works.model.form().folder == "/pictures"


def test_a_typed_home_folder_is_resolved(works):
    works.model.change(folder=" ~/photos ")
    works.clock.advance(1)
    assert works.librarian.last("training_check").params.dataset == str(Path.home() / "photos")


def test_words_do_not_need_another_check_but_numbers_do(works):
    before = len(works.librarian.asked)
    works.model.change(trigger="zobble", word="tower", prompts="a", name="b")
    works.clock.advance(1)
    assert len(works.librarian.asked) == before
    works.model.change(steps=7)
    works.clock.advance(1)
    assert works.librarian.last().params.settings.steps == 7
    works.model.change(steps=7)
    works.librarian.answer(check(), "training_check")
    works.model.refresh()
    works.clock.advance(1)
    assert works.librarian.methods().count("training_check") == 3


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ({"trigger": "Aunt: Mary!"}, "Aunt Mary"),
        ({"trigger": ""}, "pictures"),
        ({"trigger": "", "folder": "/"}, "lora"),
        ({"name": " mine "}, "mine"),
    ],
)
def test_the_name_is_made_from_what_is_there(works, form, name):
    works.model.change(**form)
    assert works.model.name() == name


def test_a_name_that_is_taken_is_numbered_or_refused(works):
    works.list(run_info("zibble"), run_info("zibble 2"))
    assert works.model.name() == "zibble 3"
    works.model.change(name="zibble")
    assert "exists" in works.model.problems()["name"] and not works.model.begin()
    works.model.change(name="a/b")
    assert "letters" in works.model.problems()["name"]


def test_what_the_check_says_prevents_a_start(works):
    works.checks.again()
    works.check(check(problem="a model of the variant turbo cannot be trained", values=None))
    assert works.model.problems()["check"].endswith("cannot be trained") and not works.model.can_start()
    works.checks.again()
    works.clock.advance(1)
    works.librarian.fail("storage", "it is gone", "training_check")
    assert works.model.problems()["folder"] == "it is gone"


def test_without_a_model_there_is_nothing_to_train(works):
    works.models.use((model_info(problem="it is a pickle"),))
    assert "model" in works.model.problems() and works.model.models() == ()


def test_it_is_started_once(works):
    works.model.change(name="mine")
    assert works.model.begin()
    assert works.live.folder() == "/loras/mine.training" and works.model.form().name == ""
    works.list(run_info("mine"))
    assert not works.model.can_start() and not works.model.begin()


def test_the_end_is_told(works):
    told, finished = [], []
    works.model.noticed.connect(told.append)
    works.model.finished.connect(lambda name, words: finished.append((name, words)))
    works.model.begin()
    works.lender.let()
    works.engine.fail("usage", "castle.safetensors exists already")
    assert "castle.safetensors exists already" in told[0] and finished[0][0] == "zibble"
    works.model.begin()
    works.lender.let()
    works.engine.answer(None)
    assert len(told) == 1 and finished[1] == ("zibble", "Training has finished: choose an epoch to use.")


def test_a_chosen_epoch_is_handed_on(works):
    used = []
    works.model.use_asked.connect(lambda path, info: used.append((path, info.request.name)))
    works.model.use("/a.safetensors", run_info())
    assert used == [("/a.safetensors", "castle")]


def test_the_form_is_stored(tmp_path):
    works = TrainWorks(tmp_path, TrainForm(folder=FOLDER))
    works.model.change(trigger="zibble")
    assert works.state.value().form.trigger == "zibble"
