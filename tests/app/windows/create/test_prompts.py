"""The prompts on the Create page: their length, weights and history."""

from dataclasses import replace

import pytest
from create_page import kit_of, page_of
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from mezzotint.library_protocol import TokenCount
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST

COUNT = TokenCount(encoder="text_encoder", tokens=3, limit=75, chunks=1, cut=0, honours_weights=True)


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    return page_of(kit, qtbot)


def test_tokens_and_weights_that_nobody_reads(kit, page, qtbot):
    qtbot.waitUntil(lambda: len(kit.librarian.open("tokens")) == 2)  # of the prompt and the negative prompt
    for one in kit.librarian.open("tokens"):
        kit.librarian.answer((replace(COUNT, honours_weights=False),), call=one.call)
    assert page.prompts.token_lines()[0].words() == "3 of 75 tokens"
    before = kit.create.prompts.prompt()
    QTest.keyClick(page.prompts.prompt, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert kit.create.prompts.prompt() == before
    assert "ignores prompt weights" in page.prompts.token_lines()[0].words()


def test_history_by_the_keyboard(kit, page):
    kit.create.generate()
    kit.write("draft")
    page.show_model()
    QTest.keyClick(page.prompts.prompt, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    page.show_model()
    assert page.prompts.prompt.text() == "a house"
    QTest.keyClick(page.prompts.prompt, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    page.show_model()
    assert page.prompts.prompt.text() == "draft"


def test_a_megabyte_is_not_pasted_and_nothing_is_lost(kit, page):
    said = []
    page.message.connect(said.append)
    QGuiApplication.clipboard().setText("x" * (1 << 20))
    page.prompts.prompt.paste()
    assert page.prompts.prompt.text() == kit.create.prompts.prompt() == "a house"
    assert str(LONGEST) in said[0]


def test_typing_beyond_what_can_be_read_stops_there(kit, page):
    kit.write("ab " * (LONGEST // 3) + "x")
    page.show_model()
    QTest.keyClicks(page.prompts.prompt, "y")
    assert page.prompts.prompt.text() == kit.create.prompts.prompt()
    assert len(kit.create.prompts.prompt()) == LONGEST
