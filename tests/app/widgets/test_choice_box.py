"""A list to choose from."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from mezzotint_app.widgets.choice_box import Choice, ChoiceBox

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
