"""Completions below the cursor of a prompt, by keyboard and by mouse."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from mezzotint.library_protocol import Completion
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.prompting.completion import PromptCompletion
from mezzotint_app.widgets.inputs.prompt_edit import PromptEdit

FOUND = (Completion(kind="tag", text="blue_eyes", detail="12"), Completion(kind="embedding", text="blur", path="/b"))


@pytest.fixture
def edit(service, inline, tmp_path, qtbot):
    settings = Stored(tmp_path / "window.json", Settings(), inline)
    window = QWidget()
    column = QVBoxLayout(window)
    made = PromptEdit("Prompt", "", lines=3, completion=PromptCompletion(service, settings))
    column.addWidget(made)
    column.addWidget(QLineEdit())  # to which Tab would go
    qtbot.addWidget(window)
    window.show()
    made.setFocus()
    qtbot.waitUntil(made.hasFocus)
    yield made


@pytest.fixture
def offer(edit, service, qtbot):
    def typed(words):
        QTest.keyClicks(edit, words)
        qtbot.waitUntil(lambda: bool(service.open("complete")))
        service.answer(FOUND)
        assert edit.offered.isVisible()

    return typed


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ((Qt.Key.Key_Tab,), "\U0001f600 a, blue eyes, "),
        ((Qt.Key.Key_Down, Qt.Key.Key_Return), "\U0001f600 a, blue eyes, "),
        ((Qt.Key.Key_Up, Qt.Key.Key_Return), "\U0001f600 a, blur, "),
        ((Qt.Key.Key_Return,), "\U0001f600 a, bl\n"),
        ((Qt.Key.Key_Escape,), "\U0001f600 a, bl"),
    ],
)
def test_keys(edit, offer, keys, text):
    edit.show_text("\U0001f600 a, ")
    offer("bl")
    for key in keys:
        QTest.keyClick(edit, key)
    assert edit.text() == text
    assert not edit.offered.isVisible()
    assert edit.hasFocus()
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    assert not edit.hasFocus()


def test_enter_inserts_the_first_of_a_kind_that_was_named(edit, offer):
    offer("an __an")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.text() == "an blue eyes, "


def test_a_click_and_what_is_shown(edit, offer):
    offer("bl")
    shown = [edit.offered.item(row).text() for row in range(edit.offered.count())]
    assert shown == ["blue_eyes   (12)", "blur   (embedding)"]
    edit.offered.itemClicked.emit(edit.offered.item(1))
    assert edit.text() == "blur, "


def test_nothing_is_offered_for_a_selection_or_another_text(edit, offer, service):
    offer("bl")
    edit.selectAll()
    assert not edit.offered.isVisible()
    edit.show_text("blue")
    assert not service.open("complete")
