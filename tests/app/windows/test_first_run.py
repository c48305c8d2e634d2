"""One click makes an image."""

import pytest
from fake_setup import made_setup
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from mezzotint_app.windows.first_run import FirstRun


@pytest.fixture
def page(qtbot):
    made = FirstRun()
    qtbot.addWidget(made)
    made.show()
    return made


def test_one_click_is_enough(qtbot, page):
    with qtbot.waitSignal(page.make_asked) as asked:
        qtbot.mouseClick(page.make_button, Qt.MouseButton.LeftButton)
    assert asked.args == ["a red house by the sea at dusk"]


def test_enter_makes_it_with_the_persons_words(qtbot, page):
    page.prompt.setText("  a blue boat ")
    with qtbot.waitSignal(page.make_asked) as asked:
        qtbot.keyClick(page.prompt, Qt.Key.Key_Return)
    assert asked.args == ["a blue boat"]


def test_no_words_make_nothing(qtbot, page):
    page.prompt.clear()
    with qtbot.assertNotEmitted(page.make_asked):
        qtbot.mouseClick(page.make_button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(
    ("button", "signal"),
    [("folder_button", "add_folder_asked"), ("get_button", "get_asked"), ("skip_button", "skipped")],
)
def test_other_ways_on(qtbot, page, button, signal):
    with qtbot.waitSignal(getattr(page, signal)):
        qtbot.mouseClick(getattr(page, button), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("first", [True, False])
def test_without_an_engine_it_is_installed_here(qtbot, tmp_path, inline, first):
    page = FirstRun(made_setup(tmp_path, inline, first=first).model)
    qtbot.addWidget(page)
    page.show()
    assert (page.engine is not None) == first and page.prompt.isVisible() != first
    page.focus_first()
    wanted = page.engine.install_button if first else page.prompt
    qtbot.waitUntil(lambda: page.focusWidget() is wanted)


def test_it_is_installed_from_a_folder_by_keys_alone(qtbot, tmp_path, inline):
    made = made_setup(tmp_path, inline)
    page = FirstRun(made.model)
    qtbot.addWidget(page)
    page.show()
    page.focus_first()
    qtbot.waitUntil(page.engine.install_button.hasFocus)
    qtbot.keyClick(page.engine.install_button, Qt.Key.Key_Tab)
    qtbot.keyClick(page.engine.wheels_button, Qt.Key.Key_Return)
    page.engine.findChild(QFileDialog).fileSelected.emit("/wheels")
    assert page.focusWidget() is page.engine.pause_button
    made.runs.done("install", "1.0-cu130")
    assert page.focusWidget() is page.engine.start_button
    with qtbot.waitSignal(made.model.restart_wanted):
        qtbot.keyClick(page.engine.start_button, Qt.Key.Key_Return)
