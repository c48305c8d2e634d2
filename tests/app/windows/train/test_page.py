"""The whole page: from an empty one to a training, and what it says on the way."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from train_made import TrainWorks, check, image, problem, run_info

from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.windows.train.page import DATASET, TRAININGS, TrainPage

LEFT = Qt.MouseButton.LeftButton


def test_at_first_it_says_what_it_is_for(qtbot, tmp_path):
    page = TrainPage(TrainWorks(tmp_path).model)
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    assert page.dataset.empty.title() == "Teach a model something new" and page.dataset.sample.isVisible()
    assert not page.start.isEnabled() and not page.hint.isVisible() and not page.summary.isVisible()
    page.focus_first()
    qtbot.waitUntil(page.form.folder.line.hasFocus)


def test_the_sample_fills_the_form(qtbot, tmp_path):
    works = TrainWorks(tmp_path)
    page = TrainPage(works.model)
    qtbot.addWidget(page)
    qtbot.mouseClick(page.dataset.sample, LEFT)
    form = works.model.form()
    assert Path(form.folder).name == "zibble"
    assert (form.trigger, form.word, form.model) == ("zibble", "castle", "starter-dit")


def test_what_is_checked_is_summed_up_and_can_be_started(qtbot, works, page):
    assert page.summary.text().startswith("3 images, 100 steps") and page.start.isEnabled()
    assert page.form.steps.text() == "automatic (100)" and page.form.name.placeholderText() == "zibble"
    qtbot.mouseClick(page.start, LEFT)
    assert works.live.folder() == "/loras/zibble.training" and page.tabs.currentIndex() == TRAININGS
    page.show_model()
    assert not page.start.isEnabled() and page.hint.text().startswith("A training run is in progress")
    page.begin()
    assert works.live.folder() == "/loras/zibble.training"


def test_what_prevents_a_start_is_told(works, page):
    works.checks.again()
    works.check(check(values=None, problem="an inpainting model cannot be trained"))
    page.show_model()
    assert "inpainting" in page.hint.text() and not page.start.isEnabled() and page.note.text() == ""


def test_a_folder_without_images_says_what_to_put_there(qtbot, works, page):
    qtbot.mouseClick(page.dataset.rescan, LEFT)
    works.check(check(count=0, images=(), values=None, problem="it contains no images"))
    page.show_model()
    assert page.dataset.empty.title() == "No images to learn from"
    works.model.use_folder("/other")
    page.show_model()
    assert page.dataset.empty.title() == "Reading the images…"


def test_a_dropped_folder_is_used(works, page):
    page.tabs.setCurrentIndex(TRAININGS)
    page.dropped.emit(DropData(paths=()))
    assert page.tabs.currentIndex() == TRAININGS
    page.dropped.emit(DropData(paths=("/photos/a.png",)))
    assert works.model.form().folder == "/photos" and page.tabs.currentIndex() == DATASET


@pytest.mark.parametrize(("info", "tab"), [(run_info(), TRAININGS), (run_info(lora="/a"), DATASET)])
def test_an_unfinished_training_is_shown_when_the_page_is_first_opened(qtbot, tmp_path, info, tab):
    works = TrainWorks(tmp_path)
    page = TrainPage(works.model)
    qtbot.addWidget(page)
    works.list(info)
    assert page.tabs.currentIndex() == tab
    page.tabs.setCurrentIndex(DATASET)
    works.list(info)
    assert page.tabs.currentIndex() == DATASET


def test_problems_are_above_the_images(works, page):
    works.checks.again()
    works.check(check(image(0), problems=(problem(0), problem(path="/images", message="it has few images"))))
    page.show_model()
    assert page.dataset.problems.text().splitlines()[0] == "it has few images"
