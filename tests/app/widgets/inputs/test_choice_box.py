"""A list to choose from."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from mezzotint_app import theme
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox

CHOICES = (
    Choice(value="a", name="One"),
    Choice(value="b", name="Two", problem="<b>broken</b>"),
    Choice(value="c", name="&x"),
)


@pytest.fixture
def box(qtbot):
    box = ChoiceBox("Model", "tip")
    qtbot.addWidget(box)
    box.show()
    box.show_choices(CHOICES, "a")
    return box


def test_showing_tells_nothing_and_choosing_does(box):
    told = []
    box.chosen.connect(told.append)
    box.show_choices(CHOICES, "c")
    assert (told, box.value(), box.currentText()) == ([], "c", "&x")
    box.choose("a")
    assert told == ["a"]


def test_what_cannot_be_chosen_is_passed_over_by_the_keyboard(box):
    told = []
    box.chosen.connect(told.append)
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Down)
    assert told == ["c"]


def test_a_choice_of_before_stays_in_sight(box):
    box.show_choices(CHOICES[:1], "gone")
    assert (box.value(), box.currentText()) == ("gone", "gone")
    box.show_choices(CHOICES, "a")
    assert [one.value for one in box.choices()] == ["a", "b", "c"]


def test_a_reason_is_plain_text(box):
    tip = box.model().item(1).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;broken" in tip
    assert box.model().item(1).data(Qt.ItemDataRole.AccessibleDescriptionRole) == "<b>broken</b>"


def test_an_empty_list_has_no_value(qtbot):
    box = ChoiceBox("Model", "tip")
    qtbot.addWidget(box)
    assert box.value() is None


@pytest.mark.parametrize("count", [3, 11])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_open_list_shows_all_entries(qapp, qtbot, scheme, count):
    theme.apply(qapp, scheme)
    window, box = QWidget(), ChoiceBox("Model", "tip")
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.addWidget(QLineEdit())  # has the keyboard at first
    column.addWidget(box)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    box.show_choices([Choice(value=number, name=f"Entry {number}") for number in range(count)], 0)
    view, height = box.view(), box.height()
    box.setFocus()
    assert (box.hasFocus(), box.height(), box.sizeHint().height()) == (True, height, height)
    QTest.mouseClick(box, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(view.hasFocus)
    first, last = (view.visualRect(view.model().index(row, 0)) for row in (0, count - 1))
    assert (first.top(), view.verticalScrollBar().maximum()) == (0, 0)
    assert last.bottom() <= view.viewport().rect().bottom()
