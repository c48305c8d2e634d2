"""The picture on the Create page, and the last ones."""

import pytest
from create_page import clicked, generated, kit_of, page_of
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from mezzotint.protocol import Step
from mezzotint_app.service import Failure


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    return page_of(kit, qtbot)


def running(kit):
    kit.create.generate()
    kit.runner.begin(kit.tasks(kit.entries[-1])[0])


def test_progress_and_cancel(kit, page):
    assert page.result.cancel_button().isHidden()
    running(kit)
    assert not page.result.cancel_button().isHidden()
    kit.runner.progressed.emit(
        kit.runner.task(), Step(image=0, images=1, stage=0, stages=1, step=2, steps=8, sigma=1.0, preview=None)
    )
    assert page.result.progress_words().startswith("Picture 1 of 1: step 2 of 8")
    clicked(page.result.cancel_button())
    assert kit.runner.stopped == 1
    kit.runner.end(failure=Failure(kind="cancelled", message="cancelled"))
    assert page.result.progress_words() == "Stopped."
    assert page.result.cancel_button().isHidden()


def test_results_can_be_shown_opened_and_begun_from(kit, page):
    opened, settings = [], []
    page.open_full_screen.connect(lambda paths, which: opened.append((paths, which)))
    page.show_settings_of.connect(settings.append)
    running(kit)
    for number in range(3):
        kit.runner.saved.emit(kit.runner.task(), generated(f"/{number}.png", seed=number))
    kit.runner.end()
    strip = page.result.strip
    assert strip.paths() == ("/2.png", "/1.png", "/0.png")
    strip.setCurrentIndex(strip.model().index(1, 0))
    assert kit.librarian.last("pixels").params.path == "/1.png"
    QTest.keyClick(strip, Qt.Key.Key_Return)
    assert opened == [(("/2.png", "/1.png", "/0.png"), 1)]
    actions = {action.text(): action for action in page.result.menu_for("/0.png").actions()}
    actions["Begin from this picture"].trigger()
    actions["Keep its seed"].trigger()
    actions["Its settings…"].trigger()
    request = kit.create.request()
    assert (request.images[0].path, request.seed, settings) == ("/0.png", 0, ["/0.png"])


def test_while_something_is_made_an_older_picture_can_be_looked_at(kit, page):
    running(kit)
    assert page.result.follow_button().isHidden()
    kit.create.preview.show_result("/old.png")
    assert not page.result.follow_button().isHidden()
    clicked(page.result.follow_button())
    assert page.result.follow_button().isHidden()
