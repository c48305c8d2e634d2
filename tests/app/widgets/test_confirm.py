"""Asking once more."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from mezzotint_app.widgets.confirm import confirm


@pytest.fixture
def parent(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def asked(parent, **options):
    agreed = []
    box = confirm(parent, "Remove", "Really <b>this</b>?", "Remove", agreed.append, **options)
    return box, agreed


def button(box, role):
    return next(one for one in box.buttons() if box.buttonRole(one) == role)


def test_nothing_happens_without_agreement_and_that_is_the_default(qtbot, parent):
    box, agreed = asked(parent)
    assert box.textFormat() == Qt.TextFormat.PlainText
    assert box.defaultButton() is button(box, QMessageBox.ButtonRole.RejectRole)
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert agreed == []


@pytest.mark.parametrize("tick", [True, False])
def test_agreement_says_whether_to_ask_again(qtbot, parent, tick):
    box, agreed = asked(parent, do_not_ask="Do not ask again")
    box.checkBox().setChecked(tick)
    qtbot.mouseClick(button(box, QMessageBox.ButtonRole.AcceptRole), Qt.MouseButton.LeftButton)
    assert agreed == [tick]


def test_without_a_box_to_tick_it_is_asked_again(qtbot, parent):
    box, agreed = asked(parent)
    assert box.checkBox() is None
    qtbot.mouseClick(button(box, QMessageBox.ButtonRole.AcceptRole), Qt.MouseButton.LeftButton)
    assert agreed == [False]
