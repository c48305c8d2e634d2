"""Closing with work left: nothing is decided for the person."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from mezzotint_app.windows.quit_dialog import QuitDialog


@pytest.fixture
def dialog(qtbot):
    made = QuitDialog()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.parametrize(
    ("button", "signal", "other"),
    [("continue_button", "continue_in_background", "stop"), ("stop_button", "stop", "continue_in_background")],
)
def test_each_way_is_told(qtbot, dialog, button, signal, other):
    with qtbot.assertNotEmitted(getattr(dialog, other)), qtbot.waitSignal(getattr(dialog, signal)):
        qtbot.mouseClick(getattr(dialog, button), Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()


@pytest.mark.parametrize("leave", ["button", "escape"])
def test_staying_decides_nothing(qtbot, dialog, leave):
    with qtbot.assertNotEmitted(dialog.continue_in_background), qtbot.assertNotEmitted(dialog.stop):
        if leave == "button":
            qtbot.mouseClick(dialog.stay_button, Qt.MouseButton.LeftButton)
        else:
            qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


@pytest.mark.parametrize("queue", [True, False])
def test_a_batch_stops_and_only_the_queue_goes_on_without_the_window(qtbot, queue):
    dialog = QuitDialog(batch=True, queue=queue)
    qtbot.addWidget(dialog)
    dialog.show()
    words = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "batch is running" in words and ("queue is not empty" in words) is queue
    assert dialog.continue_button.isVisible() is queue
    with qtbot.assertNotEmitted(dialog.continue_in_background), qtbot.waitSignal(dialog.stop):
        qtbot.mouseClick(dialog.stop_button, Qt.MouseButton.LeftButton)
