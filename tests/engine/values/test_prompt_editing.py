"""Prompts that change while an image is made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.values.prompt_editing import EditedPrompt, changing_marks, every_text, segments


def texts(prompt, steps=10):
    return [(one.first, one.prompts[0]) for one in segments([prompt], range(steps), steps)]


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("an [oak:birch:0.3] tree", [(0, "an oak tree"), (3, "an birch tree")]),
        ("an [oak:birch:7] tree", [(0, "an oak tree"), (7, "an birch tree")]),
        ("a [snowy :.25]hill", [(0, "a hill"), (2, "a snowy hill")]),
        ("a [snowy ::4]hill", [(0, "a snowy hill"), (4, "a hill")]),
        ("[x:y:99]", [(0, "x")]),
        ("[x:y:0]", [(0, "y")]),
        (
            "[sea:(waves:1.3) [at dawn|at night]:8]",
            [(0, "sea"), (8, "(waves:1.3) at dawn"), (9, "(waves:1.3) at night")],
        ),
        ("([day:night: 5 ]:1.2)", [(0, "(day:1.2)"), (5, "(night:1.2)")]),
        (r"[a\:b\|c:d:5]", [(0, "a:b|c"), (5, "d")]),
        ("[<lora:x:0.8>a:b:5]", [(0, "<lora:x:0.8>a"), (5, "b")]),
        ("[a (b:c:5]", [(0, "a (b"), (5, "c")]),
    ],
)
def test_schedule(prompt, wanted):
    assert texts(prompt) == wanted


@pytest.mark.parametrize(
    "prompt",
    [
        "[weak]",
        "[weak (strong:1.2)]",
        r"\[a:b:0.5\]",
        "[a:b:c:2]",
        "[style: oil]",
        "[a:b:soon]",
        "[a:b:0.5",
        "a:b:0.5]",
        "([a:b:2)]",
    ],
)
def test_other_brackets_stay_as_they_are(prompt):
    assert texts(prompt) == [(0, prompt)] and not EditedPrompt(prompt).changes


def test_marks_of_what_changes():
    text = r"[weak] a [cat:(b:1.2):0.5] [x|y] \[a:b:1\]"
    assert [text[start:end] for start, end in changing_marks(text)] == ["[", ":", ":0.5]", "[", "|", "]"]


def test_alternation_takes_turns():
    assert [text for _, text in texts("[a|b|] x", 5)] == ["a x", "b x", " x", "a x", "b x"]
    assert every_text("[a|b] [c:d:0.5]", 4) == ("a c", "b c", "a d", "b d")


def test_several_prompts_and_a_part_of_the_steps():
    found = segments(["[a:b:6]", "plain", "[c::8]"], range(5, 10), 10)
    assert found == ((5, ("a", "plain", "c")), (6, ("b", "plain", "c")), (8, ("b", "plain", "")))


@given(st.text("ab[]():|\\.5 ", max_size=40))
def test_any_text_has_a_meaning(text):
    read = EditedPrompt(text)
    assert read.changes or read.at(0, 5) == text
    assert len(read.at(3, 5)) <= len(text)


@pytest.mark.parametrize(
    "prompt",
    [
        "[" * 30_000,
        "[" * 15_000 + "]" * 15_000,
        "[(:" * 9000 + "]" * 9000,
        "([" * 9000 + ")" * 9000,
        "[a:" * 6000 + ":1]" * 6000,
    ],
)
def test_prompts_made_to_take_long(prompt):
    assert every_text(prompt, 2)
