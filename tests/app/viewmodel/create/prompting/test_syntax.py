"""What is highlighted in a prompt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.viewmodel.create.prompting.syntax import marks

pytestmark = pytest.mark.requires_package("PySide6")


def meanings(text, *wanted):
    return {(text[one.start : one.end], one.meaning) for one in marks(text) if one.meaning in wanted}


def test_weights_tags_wildcards_and_alternatives():
    text = r"(a:1.2) (b:0.5) <lora:ink:0.8> __animal/big__ {red|blue} {plain}"
    assert meanings(text, "stronger", "weaker") == {("a", "stronger"), ("b", "weaker")}
    assert meanings(text, "tag", "wildcard") == {("<lora:ink:0.8>", "tag"), ("__animal/big__", "wildcard")}
    chosen = [one.start for one in marks(text) if one.meaning == "choice"]
    assert [text[at] for at in sorted(chosen)] == ["{", "|", "}"]
    assert not meanings(text, "error")


def test_what_changes_and_what_is_drawn():
    text = r"a [cat:dog:0.5] [x|y] [weak] {2$$ and $$a|3::b} ${hue=red} ${hue} __a/*__ \[p:q:1\]"
    assert meanings(text, "wildcard") == {("__a/*__", "wildcard")}
    assert meanings(text, "choice") == {
        (part, "choice") for part in ("[", ":", ":0.5]", "|", "]", "{", "}", "${hue=", "${hue}")
    }
    assert {"2$$ and $$", "3::"} <= {part for part, _ in meanings(text, "quiet")}
    assert not meanings(text, "error")


@pytest.mark.parametrize(
    ("text", "places"),
    [("(a", [0]), ("a)", [1]), ("[a) b]", [2]), ("{a|b", [0]), (r"\(a\)", []), ("a | b", []), ("((a)", [0])],
)
def test_brackets_without_a_partner(text, places):
    assert sorted(one.start for one in marks(text) if one.meaning == "error") == places


@given(st.text(st.sampled_from("ab(){}[]|\\_<>:lora1.2 "), max_size=60))
def test_marks_are_in_the_text(text):
    assert all(0 <= one.start <= one.end <= len(text) for one in marks(text))


def test_long_lines_of_nothing_but_marks_are_read():
    for mark in ("(", ")", "{", "|", "_", "<lora:", "({[|"):
        assert len(marks(mark * 8000)) <= 8 * 8000
