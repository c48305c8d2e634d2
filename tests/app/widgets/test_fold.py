"""Folding by mouse and keyboard."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from mezzotint_app.widgets.fold import Fold


@pytest.fixture
def fold(qtbot):
    fold = Fold("Steps & more", "tip", QLabel("inside"))
    qtbot.addWidget(fold)
    fold.resize(300, 200)
    fold.show()
    return fold


@pytest.mark.parametrize(
    ("keys", "is_open"),
    [
        ([Qt.Key.Key_Space], True),
        ([Qt.Key.Key_Space, Qt.Key.Key_Space], False),
        ([Qt.Key.Key_Right, Qt.Key.Key_Right], True),
        ([Qt.Key.Key_Right, Qt.Key.Key_Left], False),
    ],
)
def test_by_the_keyboard(fold, keys, is_open):
    told = []
    fold.toggled.connect(told.append)
    for key in keys:
        QTest.keyClick(fold.head(), key)
    assert fold.is_open() is is_open
    assert told[-1] is is_open
    assert fold.findChild(QLabel).isVisible() is is_open


def test_by_the_mouse(fold):
    QTest.mouseClick(fold.head(), Qt.MouseButton.LeftButton)
    assert fold.is_open()


def test_its_state_and_what_is_set_are_said(fold):
    assert fold.head().accessibleName() == "Steps & more, closed"
    fold.set_summary("20 steps")
    assert fold.head().accessibleDescription() == "20 steps"
    fold.set_open(True)
    assert fold.head().accessibleName() == "Steps & more, open"


def test_the_summary_is_painted_only_while_it_is_closed(fold):
    closed = fold.head().grab().toImage()
    fold.set_summary("20 steps")
    assert fold.head().grab().toImage() != closed
    fold.set_open(True)
    opened = fold.head().grab().toImage()
    fold.set_summary("30 steps")
    assert fold.head().grab().toImage() == opened


def test_it_may_be_narrow(fold):
    fold.set_summary("a long summary " * 20)
    assert fold.head().minimumSizeHint().width() <= 80
