"""The parts of the program know of each other, and of the session before."""

from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage

from mezzotint_app.processes.setup_process import Bootstrap
from mezzotint_app.program import Program
from mezzotint_app.viewmodel.create.state import Result
from mezzotint_app.windows.main_window import MainWindow

NOWHERE = ("no such program",)


def program(qtbot):
    made = Program(engine=NOWHERE, librarian=NOWHERE)
    with qtbot.waitSignal(made.access.opened):
        made.access.open()
    return made


@pytest.fixture
def later(qtbot, tmp_path):
    """A second session, after one in which a prompt was written and an image made."""
    path = tmp_path / "a.png"
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    image.fill(QColor("#446688"))
    assert image.save(str(path))
    first = program(qtbot)
    first.create.prompts.set_prompt("a boat at dawn")
    first.create.chosen.change(steps=7)
    first.create.restore()
    first.images.set_image(str(path))
    first.images.set_strength(0.3)
    first.create_state.change(results=(Result(path=str(path), seed=7, width=8, height=8),))
    first.settings.change(first_run_done=True)
    first.finish()
    second = program(qtbot)
    yield second
    second.finish()


def test_the_create_page_is_as_it_was_left(qtbot, later):
    window = MainWindow(later)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    window.show()
    later.create.restore()
    assert (Path(later.images.path()).name, later.images.strength()) == ("a.png", 0.3)
    page = window.create_page
    assert page.prompts.prompt.toPlainText() == "a boat at dawn"
    assert later.create.chosen.settings().steps == 7
    qtbot.waitUntil(lambda: len(page.result.strip.paths()) == 1)


def test_an_image_in_the_trash_leaves_the_create_page(qtbot, later):
    later.create.restore()
    qtbot.waitUntil(lambda: bool(later.create.preview.results()))
    later.gallery.trash.moved.emit((later.create.preview.results()[0].path,))
    assert later.create.preview.results() == ()
    assert later.create_state.value().results == ()


def test_without_an_engine_none_is_started_and_the_machine_is_looked_at(qtbot):
    bootstrap = Bootstrap(python="/no such python", payload="/payload", root="/root of it", first=True)
    made = Program(engine=NOWHERE, librarian=NOWHERE, bootstrap=bootstrap)
    with qtbot.waitSignal(made.access.opened):
        made.access.open()
    made.begin()
    assert made.engine.state() == "stopped" and made.setup.machine.is_asking()
    qtbot.waitUntil(lambda: made.setup.trouble() is not None)
    assert made.setup.trouble().code == "not_started"
    made.finish()
