"""Text by strangers is bounded and holds nothing that cannot be seen."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument

from mezzotint_app.viewmodel.foreign_text import in_full, in_lines, in_one_line, plain_tooltip, visible

texts = st.text(alphabet=st.characters(codec=None), max_size=400)


@given(texts, st.integers(1, 50))
def test_one_line_is_one_bounded_line_of_seen_characters(text, most):
    shown = in_one_line(text, most)
    assert len(shown) <= most + 1
    assert all(unicodedata.category(one) not in ("Cc", "Zl", "Zp", "Cs") for one in shown)
    shown.encode("utf-8")


@given(texts)
def test_no_mark_turns_the_direction_of_reading(text):
    assert not {"\u202e", "\u2066", "\u200f", "\x1b"} & set(visible(text + "\u202e\u2066\u200f\x1b"))


def test_words_stay_as_they_are():
    assert in_one_line("a <b>red</b>  house\n by the sea") == "a <b>red</b> house by the sea"
    assert in_one_line("👩\u200d🎨 日本") == "👩\u200d🎨 日本"


def test_long_text_says_how_much_is_left_out():
    shown, left_out = in_full("word\n" * 300_000, 1000)
    assert (len(shown), left_out) == (1000, 1_499_000)
    assert "\n" in shown
    assert in_full("short") == ("short", 0)


def test_a_megabyte_in_one_line_is_cut_before_it_is_looked_at():
    assert in_one_line("x" * 1_000_000, 100) == "x" * 100 + "…"
    assert in_one_line(" " * 1_000_000, 100).strip() == "…"


@given(texts, st.integers(1, 300))
def test_no_word_is_so_long_that_it_widens_the_window(text, most):
    lines = in_lines(text, most)
    assert lines.replace("\u200b", "") == in_one_line(text, most)
    assert all(len(word) <= 24 for word in lines.replace("\u200b", " ").split())


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"])))
def test_a_tooltip_shows_what_was_said(text):
    document = QTextDocument()
    document.setHtml(plain_tooltip(text))
    assert document.toPlainText() == text
