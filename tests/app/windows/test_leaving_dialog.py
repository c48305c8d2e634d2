"""Closing with work left: nothing is decided for the person."""

import pytest
from PySide6.QtCore import Qt

from mezzotint_app.windows.leaving_dialog import LeavingDialog


@pytest.fixture
def dialog(qtbot):
    made = LeavingDialog()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.parametrize(
    ("button", "signal", "other"), [("go_on_button", "go_on", "stop"), ("stop_button", "stop", "go_on")]
)
def test_each_way_is_told(qtbot, dialog, button, signal, other):
    with qtbot.assertNotEmitted(getattr(dialog, other)), qtbot.waitSignal(getattr(dialog, signal)):
        qtbot.mouseClick(getattr(dialog, button), Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()


@pytest.mark.parametrize("leave", ["button", "escape"])
def test_staying_decides_nothing(qtbot, dialog, leave):
    with qtbot.assertNotEmitted(dialog.go_on), qtbot.assertNotEmitted(dialog.stop):
        if leave == "button":
            qtbot.mouseClick(dialog.stay_button, Qt.MouseButton.LeftButton)
        else:
            qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
