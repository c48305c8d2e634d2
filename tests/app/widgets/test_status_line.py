"""The line at the foot of the window."""

import pytest
from PySide6.QtCore import Qt

from mezzotint_app.widgets.status_line import StatusLine


@pytest.fixture
def line(qtbot):
    made = StatusLine()
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_engine_is_told_in_words_and_with_a_drawing(line):
    line.show_engine("The engine starts", "waiting", "muted", "Opens the log")
    assert line.engine.text() == line.engine.accessibleName() == "The engine starts"
    assert line.engine.toolTip() == "Opens the log"
    assert not line.engine.icon().isNull()


def test_what_can_be_stopped_can_be_pressed_and_says_what_it_is(qtbot, line):
    assert not line.cancel.isVisible()
    line.show_cancel("Cancel loading")
    assert line.cancel.isVisible() and line.cancel.accessibleName() == line.cancel.toolTip() == "Cancel loading"
    with qtbot.waitSignal(line.cancel_asked):
        qtbot.mouseClick(line.cancel, Qt.MouseButton.LeftButton)
    line.show_cancel("")
    assert not line.cancel.isVisible()


def test_memory_is_hidden_while_nothing_works(line):
    line.show_memory("RAM 1.0 GB of 8.0 GB")
    assert line.memory.isVisible()
    line.show_memory("")
    assert not line.memory.isVisible()


def test_a_message_fades(qtbot, line, monkeypatch):
    monkeypatch.setattr("mezzotint_app.widgets.status_line._MESSAGE_TIME", 20)
    line.show_message("copied <b>")
    assert line.message.whole_text() == "copied <b>"
    qtbot.waitUntil(lambda: line.message.whole_text() == "")


@pytest.mark.parametrize(("button", "signal"), [("engine", "engine_asked"), ("queue", "queue_asked")])
def test_both_sides_can_be_pressed(qtbot, line, button, signal):
    line.show_engine("a", "done", "good", "")
    line.show_queue("Queue empty")
    with qtbot.waitSignal(getattr(line, signal)):
        qtbot.mouseClick(getattr(line, button), Qt.MouseButton.LeftButton)
