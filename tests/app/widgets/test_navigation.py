"""The rail of pages, with the mouse and with keys."""

import pytest
from PySide6.QtCore import Qt

from mezzotint_app.widgets.navigation import Navigation

PAGES = (("create", "Create"), ("queue", "Queue"), ("gallery", "Gallery"))


@pytest.fixture
def rail(qtbot):
    made = Navigation(PAGES)
    qtbot.addWidget(made)
    made.choose(0)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    return made


def test_a_click_chooses_a_page(qtbot, rail):
    with qtbot.waitSignal(rail.chosen) as chosen:
        qtbot.mouseClick(rail.button(2), Qt.MouseButton.LeftButton)
    assert chosen.args == [2]
    assert [rail.button(number).isChecked() for number in range(3)] == [False, False, True]


def test_the_page_can_be_marked_without_telling(qtbot, rail):
    with qtbot.assertNotEmitted(rail.chosen):
        rail.choose(1)
    assert rail.button(1).isChecked()


@pytest.mark.parametrize(("key", "number"), [(Qt.Key.Key_1, 0), (Qt.Key.Key_2, 1), (Qt.Key.Key_3, 2)])
def test_keys_choose_pages(qtbot, rail, key, number):
    with qtbot.waitSignal(rail.chosen) as chosen:
        qtbot.keyClick(rail, key, Qt.KeyboardModifier.ControlModifier)
    assert chosen.args == [number]


@pytest.mark.parametrize(
    ("key", "modifier", "signal"),
    [
        (Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier, "settings_asked"),
        (Qt.Key.Key_F1, Qt.KeyboardModifier.NoModifier, "help_asked"),
    ],
)
def test_keys_ask_for_settings_and_help(qtbot, rail, key, modifier, signal):
    with qtbot.waitSignal(getattr(rail, signal)):
        qtbot.keyClick(rail, key, modifier)
