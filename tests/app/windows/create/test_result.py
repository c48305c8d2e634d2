"""The image on the Create page, and the last ones."""

import pytest
from create_page import clicked, generated, kit_of, page_of
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtTest import QTest

from mezzotint.protocol import Notice, Step
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.windows.create.page import CreatePage


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
    assert page.result.progress_words().startswith("Image 1 of 1: step 2 of 8")
    clicked(page.result.cancel_button())
    assert kit.runner.stopped == 1
    assert page.result.progress_words() == "Cancelling…"  # at once, whenever the engine hears of it
    assert not page.result.cancel_button().isEnabled()
    kit.runner.end(failure=Failure(kind="cancelled", message="cancelled"))
    assert page.result.progress_words() == "Cancelled."
    assert page.result.cancel_button().isHidden()


def test_the_image_keeps_its_size_while_another_is_made(kit, page, qtbot):
    before = page.result.view.size()
    running(kit)
    qtbot.waitUntil(page.result.cancel_button().isVisible)
    page.result.layout().activate()
    assert page.result.view.size() == before
    kit.runner.end()
    page.result.layout().activate()
    assert page.result.view.size() == before


def test_the_image_that_is_made_is_skipped_while_another_follows(kit, page):
    assert page.result.skip_button().isHidden()
    kit.create.chosen.change(count=2)
    running(kit)
    clicked(page.result.skip_button())
    assert (kit.runner.skipped, kit.runner.stopped) == (1, 0)
    assert page.result.progress_words() == "Cancelling…"
    assert page.result.skip_button().isHidden()
    kit.runner.end(failure=Failure(kind="cancelled", message="cancelled"))
    kit.create.chosen.change(count=1)
    running(kit)
    assert page.result.cancel_button().isEnabled()
    assert page.result.skip_button().isHidden()  # Cancel does the same


class Engine(QObject):
    """An EngineState that starts, or does not."""

    changed = Signal()

    def __init__(self):
        super().__init__()
        self.starts, self.cancelled = True, 0

    def is_starting(self):
        return self.starts

    def text(self):
        return "The engine is starting, about 4 s left"

    def cancel(self):
        self.cancelled += 1


def test_a_start_of_the_engine_is_told_and_can_be_cancelled(kit, qtbot):
    engine = Engine()
    page = CreatePage(kit.create, Thumbnails(kit.librarian, kit.pool), kit.pool, engine=engine)
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    assert page.result.progress_words() == engine.text()
    clicked(page.result.cancel_button())
    assert engine.cancelled == 1
    kit.write()
    running(kit)  # a job has begun, of which nothing is told yet
    assert page.result.progress_words() == engine.text()
    clicked(page.result.cancel_button())
    assert (kit.runner.stopped, engine.cancelled) == (1, 1)
    engine.starts = False
    engine.changed.emit()
    assert page.result.progress_words() == kit.create.preview.line() != engine.text()
    kit.runner.end()
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
    painted = []
    page.result.canvas_wanted.connect(painted.append)
    actions["Open in canvas"].trigger()
    assert painted == ["/0.png"]
    actions["Use as init image"].trigger()
    actions["Reuse seed"].trigger()
    actions["Load settings…"].trigger()
    request = kit.create.request()
    assert (request.images[0].path, request.seed, settings) == ("/0.png", 0, ["/0.png"])


def test_while_something_is_made_an_older_image_can_be_looked_at(kit, page):
    running(kit)
    assert page.result.follow_button().isHidden()
    kit.create.preview.show_result("/old.png")
    assert not page.result.follow_button().isHidden()
    clicked(page.result.follow_button())
    assert page.result.follow_button().isHidden()


def test_what_was_done_otherwise_than_asked_is_told_until_the_next_job(kit, page):
    running(kit)
    told = ("torch's own attention is used: the kernels <b>failed</b>", "the image is decoded in tiles")
    for code, message in (("memory_plan", "memory: streamed"), ("attention", told[0]), ("memory_short", told[1])):
        for _ in range(2):
            kit.runner.progressed.emit(kit.runner.task(), Notice(code=code, message=message))
    assert page.result.notices() == "\n".join(told)
    kit.runner.end()
    assert page.result.notices() == "\n".join(told)
    running(kit)
    assert page.result.notices() == ""
