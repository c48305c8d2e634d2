"""The text of a prompt is what was written, whatever was written."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import MILLISECONDS
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QFont, QGuiApplication, QImage, QKeySequence, QShortcut, QTextCursor, QTextOption
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from mezzotint.library_protocol import ModelCard
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST
from mezzotint_app.viewmodel.create.prompting.weights import STEP, changed_weight
from mezzotint_app.viewmodel.models.cards import lora_data
from mezzotint_app.widgets.inputs.prompt_edit import PromptEdit

TEXTS = st.text(st.sampled_from("ab (),:.1[]\\\n\u00a0\u00e9\U0001f600\U0001f3fd"), max_size=24)
NO_RESET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def edit(qtbot):
    edit = PromptEdit("Prompt", "What to show", lines=3)
    qtbot.addWidget(edit)
    edit.resize(300, 100)
    edit.show()
    return edit


def select(edit, start, end):
    cursor = edit.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    edit.setTextCursor(cursor)


def wide(text, end):
    """Places in the document: characters beyond the first 65536 count twice."""
    return sum(2 if ord(letter) > 0xFFFF else 1 for letter in text[:end])


@given(TEXTS)
@NO_RESET
def test_what_is_shown_is_what_was_set_and_nothing_is_told(edit, text):
    told = []
    edit.edited.connect(told.append)
    edit.show_text(text)
    assert edit.text() == text
    assert told == []
    edit.edited.disconnect(told.append)


@given(TEXTS, st.integers(0, 24), st.integers(0, 24))
@NO_RESET
def test_the_weight_keys_change_what_they_say_also_among_emoji(edit, text, one, other):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    edit.show_text(text)
    select(edit, wide(text, start), wide(text, end))
    QTest.keyClick(edit, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    change = changed_weight(text, start, end, STEP)
    expected = text if change is None else text[: change.start] + change.text + text[change.end :]
    assert edit.text() == expected
    if change is not None:
        chosen = edit.textCursor().selectedText().replace("\u2029", "\n")
        assert chosen == expected[change.select_start : change.select_end]
        edit.undo()
        assert edit.text() == text


def test_fine_steps_and_down(edit):
    edit.show_text("house")
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(edit, Qt.Key.Key_Down, both)
    assert edit.text() == "(house:0.95)"
    QTest.keyClick(edit, Qt.Key.Key_Up, both)
    assert edit.text() == "house"


def test_where_nobody_reads_weights_nothing_changes(edit, qtbot):
    edit.show_text("house")
    edit.set_weighs(False)
    with qtbot.waitSignal(edit.weights_unread):
        QTest.keyClick(edit, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert edit.text() == "house"


def test_every_change_by_hand_is_told_and_can_be_undone(edit):
    told = []
    edit.edited.connect(told.append)
    QTest.keyClicks(edit, "ab")
    assert told == ["a", "ab"]
    edit.show_text("from elsewhere")
    edit.undo()
    assert (edit.text(), told[-1]) == ("ab", "ab")


@pytest.mark.parametrize(
    ("key", "held", "signal"),
    [
        (Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier, "older_wanted"),
        (Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier, "newer_wanted"),
        (Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier, "generate_wanted"),
    ],
)
def test_keys_that_are_about_more_than_the_text(edit, qtbot, key, held, signal):
    edit.show_text("one\ntwo")
    with qtbot.waitSignal(getattr(edit, signal)):
        QTest.keyClick(edit, key, held)
    assert edit.text() == "one\ntwo"


def test_plain_arrows_move_and_return_makes_a_line(edit):
    edit.show_text("one\ntwo")
    QTest.keyClick(edit, Qt.Key.Key_Up)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.text() == "one\n\ntwo"


def test_only_words_are_pasted(edit):
    data = QMimeData()
    data.setHtml("<b>bold</b>")
    data.setText("<b>bold</b>")
    assert edit.canInsertFromMimeData(data)
    edit.insertFromMimeData(data)
    assert edit.text() == "<b>bold</b>"
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile("/x.png")])
    assert not edit.canInsertFromMimeData(files)


def test_a_paste_replaces_what_is_chosen_and_is_counted_so(edit, qtbot):
    edit.show_text("a" * LONGEST)
    data = QMimeData()
    data.setText("b" * LONGEST)
    with qtbot.waitSignal(edit.refused) as refused:
        edit.insertFromMimeData(data)
    assert refused.args == [2 * LONGEST]
    assert edit.text() == "a" * LONGEST
    edit.selectAll()
    edit.insertFromMimeData(data)
    assert edit.text() == "b" * LONGEST


def test_a_word_without_end_is_broken_anywhere_and_words_are_not(edit):
    edit.show_text("x" * 20_000)
    assert edit.wordWrapMode() == QTextOption.WrapMode.WrapAnywhere
    edit.show_text("word " * 4_000)
    assert edit.wordWrapMode() == QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere


def test_weights_can_be_seen_without_colours(edit):
    edit.show_text("a (strong:1.3) and (weak:0.7) one")
    shown = edit.document().begin()
    looks = {
        shown.text()[one.start : one.start + one.length]: (one.format.fontWeight(), one.format.fontItalic())
        for one in shown.layout().formats()
    }
    assert looks["strong"] == (QFont.Weight.Bold, False)
    assert looks["weak"][1]


def test_the_box_grows_with_the_text_to_a_point(edit, qtbot):
    low = edit.sizeHint().height()
    edit.show_text("line\n" * 6)
    middle = edit.sizeHint().height()
    edit.show_text("line\n" * 500)
    assert low < middle < edit.sizeHint().height() < 4 * low


@pytest.mark.parametrize(("held", "for_window"), [("image", True), ("file", True), ("text", False)])
def test_what_is_pasted_and_is_no_text_goes_to_the_window(qtbot, held, for_window):
    window, pasted = QWidget(), []
    edit = PromptEdit("Prompt", "tip", lines=2, parent=window)
    shortcut = QShortcut(QKeySequence("Ctrl+V"), window)
    shortcut.activated.connect(lambda: pasted.append(held))
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window, MILLISECONDS)
    data = QMimeData()
    if held == "image":
        data.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    elif held == "file":
        data.setUrls([QUrl.fromLocalFile("/a.png")])
    else:
        data.setText("a house")
    QGuiApplication.clipboard().setMimeData(data)
    edit.setFocus()
    QTest.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert pasted == ([held] if for_window else [])
    assert edit.text() == ("" if for_window else "a house")
    QGuiApplication.clipboard().clear()


def test_an_empty_clipboard_is_no_words(edit):
    assert not edit.canInsertFromMimeData(None)


def test_a_dragged_lora_is_passed_on_and_not_written(qtbot):
    edit = PromptEdit("Prompt", "", lines=2)
    qtbot.addWidget(edit)
    dropped = []
    edit.lora_dropped.connect(lambda *lora: dropped.append(lora))
    data = lora_data(ModelCard(path="/l/ink.safetensors", name="ink", trigger_words=("inkwash",)))
    assert edit.canInsertFromMimeData(data)
    edit.insertFromMimeData(data)
    assert (dropped, edit.text()) == ([("/l/ink.safetensors", ("inkwash",), None)], "")
