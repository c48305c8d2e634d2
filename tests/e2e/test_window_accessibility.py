"""Every window, page and dialog, in both themes: with a screen reader, with the keyboard alone, with weak eyes.

And in a language whose words are longer, on a small screen. Each check is shown to find what it is for.
"""

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from patience import MILLISECONDS
from skip_rules import skip_module_without

skip_module_without("PySide6")

import accessibility as check  # noqa: E402
import all_windows  # noqa: E402
from collected_here import collected_here  # noqa: E402, F401
from PySide6.QtCore import QLocale, QSize, Qt  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import (  # noqa: E402
    QApplication,
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid  # noqa: E402
from window_parts import program  # noqa: E402, F401  a fixture

from mezzotint_app import language, theme  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import longer_words  # noqa: E402

pytestmark = pytest.mark.timeout(600)
SMALL_SCREEN = (1024, 680)
LAPTOP = (1264, 640)  # what a screen of 1280 x 720 leaves beside a panel and the frame of a window


@pytest.fixture
def windows(qapp, qtbot, program, monkeypatch):  # noqa: F811
    """Brings up any of them, in the light theme."""
    flash = QApplication.cursorFlashTime()
    QApplication.setCursorFlashTime(0)
    for process, answers in ((program.librarian, all_windows.librarian()), (program.engine, all_windows.engine())):
        monkeypatch.setattr(process, "ask", answers.ask)
        monkeypatch.setattr(process, "cancel", answers.cancel)
        monkeypatch.setattr(process, "answers", answers.answers, raising=False)
    made = all_windows.Windows(program)
    theme.apply(qapp, "light")  # after the window was made, as the program does it
    yield made
    made.close()
    assert not isValid(made.main)
    QApplication.setCursorFlashTime(flash)


@pytest.fixture
def longer(qapp):
    """Every string is 40 % longer."""
    words = longer_words.install(qapp)
    yield
    qapp.removeTranslator(words)


def brought_up(windows, name):
    window = getattr(windows, name)()
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window, MILLISECONDS)
    return window


def at_rest(window, *checks):
    """The faults that stay: a busy machine lays windows out a little later."""
    end = time.monotonic() + MILLISECONDS / 10_000
    while (faults := [fault for check in checks for fault in check(window)]) and time.monotonic() < end:
        QTest.qWait(20)
    return faults


def fits(window):
    return check.too_large(window, *SMALL_SCREEN)


@pytest.mark.slow_after(5)
@pytest.mark.parametrize("name", all_windows.NAMES)
def test_it_can_be_used_by_everybody(qapp, windows, name):
    window = brought_up(windows, name)
    faults = [
        *check.unnamed(window),
        *check.misnamed(window),
        *check.untold(window),
        *check.markup(window, all_windows.HOSTILE),
        *at_rest(window, fits, check.pale, check.unseen_focus),
        *check.trapped(window),
        *check.trapped(window, back=True),
    ]
    assert not faults, "\n".join(faults)
    theme.apply(qapp, "dark")  # while it is open, as a person would
    faults = at_rest(window, check.pale, check.unseen_focus)
    assert not faults, "\n".join(faults)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", all_windows.NAMES)
def test_longer_words_have_room(longer, windows, name):
    faults = at_rest(brought_up(windows, name), check.clipped, fits)
    assert not faults, "\n".join(faults)


@pytest.fixture
def german(qapp):
    """As a person sees it whose system speaks German."""
    before = QLocale()
    made = language.install(qapp, "de")
    yield
    for translator in made:
        qapp.removeTranslator(translator)
    QLocale.setDefault(before)


@pytest.mark.slow_after(5)
@pytest.mark.parametrize("name", all_windows.NAMES)
def test_german_has_room_on_a_laptop(german, windows, name):
    windows.main.resize(*LAPTOP)
    window = brought_up(windows, name)
    window.resize(window.size().boundedTo(QSize(*LAPTOP)))
    faults = at_rest(window, check.clipped, fits, check.unreachable)
    assert not faults, "\n".join(faults)


@pytest.mark.slow_after(5)
@pytest.mark.parametrize("name", all_windows.NAMES)
def test_everything_is_reached_on_a_laptop(windows, name):
    windows.main.resize(*LAPTOP)
    window = brought_up(windows, name)
    window.resize(window.size().boundedTo(QSize(*LAPTOP)))
    faults = at_rest(window, check.unreachable, lambda one: check.too_large(one, *LAPTOP))
    assert not faults, "\n".join(faults)


# ---- each check finds what it is for


@pytest.fixture
def shown(qapp, qtbot):
    """Shows widgets one below the other in a window."""
    theme.apply(qapp, "light")

    def show(*widgets):
        window: Any = QWidget()
        qtbot.addWidget(window)
        column = QVBoxLayout(window)
        for widget in widgets:
            column.addWidget(widget)
        window.resize(300, 200)
        window.show()
        window.activateWindow()
        assert QTest.qWaitForWindowActive(window, MILLISECONDS)
        window.kept = widgets
        return window

    return show


def named(widget, name="Something"):
    widget.setAccessibleName(name)
    widget.setToolTip(name)
    return widget


@pytest.mark.parametrize("name", ["", "…", "×"])
def test_a_control_without_a_name_is_found(shown, name):
    window = shown(named(QLineEdit(), name), named(QPushButton("Fine")))
    assert len(check.unnamed(window)) == 1
    assert "QLineEdit" in check.unnamed(window)[0]


def test_a_button_whose_name_lacks_its_text_is_found(shown):
    window = shown(named(QPushButton("Add detail"), "Second pass"), named(QPushButton("&Add…"), "Add images"))
    assert ["shows 'add detail', but is called 'Second pass'" in one for one in check.misnamed(window)] == [True]


def test_a_button_without_a_tooltip_is_found(shown):
    assert len(check.untold(shown(QPushButton("Do it"), named(QPushButton("Fine"))))) == 1


class Trap(QPlainTextEdit):
    """Takes Tab for itself."""


class Deaf(QPushButton):
    """Looks the same with the keyboard."""

    def focusInEvent(self, event):
        event.accept()
        self.blockSignals(False)

    def paintEvent(self, event):
        pass


def test_a_control_that_keeps_the_keyboard_is_found(shown):
    window = shown(named(QLineEdit()), named(Trap()), named(QPushButton("Fine")))
    assert "caught in Trap" in check.trapped(window)[0]


@pytest.mark.parametrize("back", [False, True])
def test_a_control_that_tab_does_not_come_to_is_found(shown, back):
    last = named(QPushButton("Fine"))

    class Jump(QLineEdit):
        def focusNextPrevChild(self, _on):
            (first if last.hasFocus() else last).setFocus()
            return True

    first, between = named(Jump()), named(QLineEdit(), "Between")
    assert check.trapped(shown(named(QLineEdit()), named(QLineEdit())), back=back) == []
    window = shown(first, between, named(QPushButton("Before the last")), last)
    if back:
        last.focusNextPrevChild = lambda _on: (first.setFocus(), True)[1]
    assert any("never reached" in fault for fault in check.trapped(window, back=back))


def test_a_focus_that_is_not_seen_is_found(shown):
    assert len(check.unseen_focus(shown(named(Deaf("Do it")), named(QPushButton("Fine"))))) == 1


def test_pale_words_are_found(shown):
    pale, good = QLabel("Hardly to be read"), QLabel("Easily to be read")
    pale.setStyleSheet("color: #9a958c")
    window = shown(pale, good)
    assert len(check.pale(window)) == 1
    assert "Hardly" in check.pale(window)[0]


def test_a_dark_drawing_does_not_make_pale_words_good(shown):
    from mezzotint_app.resources import icon

    button = QPushButton(icon("trash"), "Hardly to be read")
    button.setStyleSheet("color: #9a958c; background: white")
    assert len(check.pale(shown(button))) == 1


def test_foreign_text_as_markup_is_found(shown):
    label, tip = QLabel(all_windows.HOSTILE), named(QPushButton("Do it"), all_windows.HOSTILE)
    plain = QLabel(all_windows.HOSTILE)
    plain.setTextFormat(Qt.TextFormat.PlainText)
    assert len(check.markup(shown(label, tip, plain), all_windows.HOSTILE)) == 2


def test_words_without_room_are_found(shown):
    label, button, box, wrapped = (
        QLabel("Many words"),
        QPushButton("Many words"),
        QCheckBox("Many"),
        QLabel("Many " * 30),
    )
    label.setFixedWidth(20)
    button.setFixedWidth(30)
    box.setFixedWidth(20)
    wrapped.setWordWrap(True)
    wrapped.setFixedHeight(10)
    assert len(check.clipped(shown(label, button, box, wrapped, QLabel("Fine")))) == 4


def test_what_a_scroll_area_hides_is_found(shown):
    area, inside = QScrollArea(), QWidget()
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidgetResizable(True)
    row = QHBoxLayout(inside)
    row.addWidget(QPushButton("Many words that need more than there is"))
    row.addWidget(QPushButton("Many words that need more than there is"))
    area.setWidget(inside)
    assert len(check.clipped(shown(area))) == 1


def test_a_window_for_large_screens_alone_is_found(shown):
    window = shown(QLabel("Something"))
    assert check.too_large(window, *SMALL_SCREEN) == []
    window.setMinimumWidth(1200)
    assert len(check.too_large(window, *SMALL_SCREEN)) == 1


def test_a_control_beyond_the_edge_is_found(shown):
    area, below, cut = QScrollArea(), QPushButton("Below"), QPushButton("Cut off")
    area.setWidget(below)
    below.resize(100, 2000)
    window = shown(area, named(QLineEdit()))
    assert check.unreachable(window) == []
    cut.setParent(window)
    cut.setGeometry(250, 180, 100, 40)
    cut.show()
    assert len(check.unreachable(window)) == 1
    assert "Cut off" in check.unreachable(window)[0]
