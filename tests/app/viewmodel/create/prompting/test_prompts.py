"""Prompts from files and hands, as far as they can be read."""

import pytest

from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.prompting.prompts import Prompts, with_words
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST
from mezzotint_app.viewmodel.create.state import CreateState

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def words(service, inline, tmp_path, qapp):
    def made(**state):
        kept = Stored(tmp_path / "create.json", CreateState(**state), inline)
        settings = Stored(tmp_path / "window.json", Settings(), inline)
        return Prompts(service, settings, kept, inline)

    return made


def test_texts_of_a_file_that_nobody_can_read_are_cut_and_such_history_is_left_out(words):
    made = words(prompt="x" * (LONGEST + 5), negative_prompt="y" * LONGEST, history=("z" * (LONGEST + 1), "short"))
    assert made.prompt() == "x" * LONGEST
    assert made.negative_prompt() == "y" * LONGEST
    assert made.older() == "short"
    assert made.older() is None


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1])
def test_a_text_is_taken_whole_or_not_at_all(words, length, qtbot):
    made = words(prompt="before")
    told = []
    made.refused.connect(told.append)
    assert made.set_prompt("x" * length) == (length <= LONGEST)
    assert made.prompt() == ("x" * length if length <= LONGEST else "before")
    assert len(told) == (length > LONGEST)


def test_counting_again_is_for_both_prompts(words, service, qtbot):
    made = words(prompt="a", negative_prompt="b")
    made.set_model("m")
    qtbot.waitUntil(lambda: len(service.open("tokens")) == 2)
    service.fail("gone")
    service.fail("gone")
    made.count_again()
    qtbot.waitUntil(lambda: len(service.open("tokens")) == 2)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("", "ink, wash"),
        ("a boat", "a boat, ink, wash"),
        ("a boat, ", "a boat, ink, wash"),
        ("a boat in ", "a boat in ink, wash"),
        ("INK", "INK, wash"),
        ("wash of ink", "wash of ink"),
    ],
)
def test_trigger_words_are_added_once(prompt, expected):
    assert with_words(prompt, ("ink", "wash")) == expected
