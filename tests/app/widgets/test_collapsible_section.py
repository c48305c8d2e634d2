"""Folding by mouse and keyboard."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from mezzotint_app.widgets.collapsible_section import CollapsibleSection


@pytest.fixture
def section(qtbot):
    section = CollapsibleSection("Steps & more", "tip", QLabel("inside"))
    qtbot.addWidget(section)
    section.resize(300, 200)
    section.show()
    return section


@pytest.mark.parametrize(
    ("keys", "is_open"),
    [
        ([Qt.Key.Key_Space], True),
        ([Qt.Key.Key_Space, Qt.Key.Key_Space], False),
        ([Qt.Key.Key_Right, Qt.Key.Key_Right], True),
        ([Qt.Key.Key_Right, Qt.Key.Key_Left], False),
    ],
)
def test_by_the_keyboard(section, keys, is_open):
    told = []
    section.toggled.connect(told.append)
    for key in keys:
        QTest.keyClick(section.head(), key)
    assert section.is_open() is is_open
    assert told[-1] is is_open
    assert section.findChild(QLabel).isVisible() is is_open


def test_by_the_mouse(section):
    QTest.mouseClick(section.head(), Qt.MouseButton.LeftButton)
    assert section.is_open()


def test_its_state_and_what_is_set_are_said(section):
    assert section.head().accessibleName() == "Steps & more, closed"
    section.set_summary("20 steps")
    assert section.head().accessibleDescription() == "20 steps"
    section.set_open(True)
    assert section.head().accessibleName() == "Steps & more, open"


def test_the_summary_is_painted_only_while_it_is_closed(section):
    closed = section.head().grab().toImage()
    section.set_summary("20 steps")
    assert section.head().grab().toImage() != closed
    section.set_open(True)
    opened = section.head().grab().toImage()
    section.set_summary("30 steps")
    assert section.head().grab().toImage() == opened


def test_it_may_be_narrow(section):
    section.set_summary("a long summary " * 20)
    assert section.head().minimumSizeHint().width() <= 80
