"""Weights by the keyboard: the engine reads what was meant, and nothing else changes."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mezzotint.families.text.clip_prompt import Fragment, parse
from mezzotint_app.viewmodel.create.prompting.weights import (
    FINE_STEP,
    STEP,
    changed_weight,
    groups,
    has_weights,
    word_at,
)

HARD = st.text(st.sampled_from(list("ab c,()[]\\:.1 2-{|}\nBREAK")), max_size=40)
STEPS = st.sampled_from([STEP, -STEP, FINE_STEP, -FINE_STEP])


def applied(text, edit):
    return text[: edit.start] + edit.text + text[edit.end :]


def at(marked):
    """Text, start and end: `|` is the cursor, two of them a selection."""
    parts = marked.split("|")
    text = "".join(parts)
    return (text, len(parts[0]), len(parts[0]) + (len(parts[1]) if len(parts) == 3 else 0))


def words(text):
    return "".join(part.text if isinstance(part, Fragment) else "\0" for part in parse(text))


@pytest.mark.parametrize(
    ("before", "step", "after"),
    [
        ("a red ho|use", STEP, "a red (house:1.1)"),
        ("a red house|", STEP, "a red (house:1.1)"),
        ("a |red house| by", STEP, "a (red house:1.1) by"),
        ("a | red house | by", STEP, "a  (red house:1.1)  by"),
        ("a (red ho|use:1.1)", STEP, "a (red house:1.2)"),
        ("a (red ho|use:1.1)", -STEP, "a red house"),
        ("a (red ho|use:1.1)", FINE_STEP, "a (red house:1.15)"),
        ("a (ho|use)", STEP, "a (house:1.2)"),
        ("a (ho|use)", -STEP, "a house"),
        ("a ((ho|use:1.2) red:1.3)", STEP, "a ((house:1.3) red:1.3)"),
        ("a ((house:1.2) r|ed:1.3)", STEP, "a ((house:1.2) red:1.4)"),
        ("a (|house|:1.2)", STEP, "a (house:1.3)"),
        ("a |(house:1.2)|", STEP, "a (house:1.3)"),
        ("a (house:|1.2|)", STEP, "a (house:1.3)"),
        ("a (red |house|:1.2)", STEP, "a (red (house:1.1):1.2)"),
        ("a |(red house:1.2) by| it", STEP, "a ((red house:1.2) by:1.1) it"),
        (r"a \(ho|use\) b", STEP, r"a \((house\):1.1) b"),
        (r"a \|(house\)| b", STEP, r"a (\(house\):1.1) b"),
        ("ho|use, tree", -STEP, "(house:0.9), tree"),
        ("(ho|use:-0.2)", STEP, "(house:-0.1)"),
        ("[ho|use]", STEP, "[(house:1.1)]"),
        ("((x:1.2:1.|1))", -STEP, "((x:1.2:1))"),
    ],
)
def test_examples(before, step, after):
    text, start, end = at(before)
    assert applied(text, changed_weight(text, start, end, step)) == after


@pytest.mark.parametrize("marked", ["", "|", "a | b", "a, |", "BREA|K", "a |(house| by:1.2)", "a |( b|", "a |b )| c"])
def test_where_nothing_can_be_changed(marked):
    text, start, end = at(marked if "|" in marked else f"{marked}|")
    assert changed_weight(text, start, end, STEP) is None


def test_weights_end_at_what_the_engine_takes():
    assert changed_weight("(house:10)", 3, 3, STEP) is None
    assert applied("(house:9.95)", changed_weight("(house:9.95)", 3, 3, STEP)) == "(house:10)"
    assert changed_weight("(house:-10)", 3, 3, -STEP) is None


@given(HARD, st.integers(0, 40), st.integers(0, 40), STEPS)
def test_the_words_stay_what_they_are(text, one, other, step):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    edit = changed_weight(text, start, end, step)
    if edit is not None:
        assert words(applied(text, edit)) == words(text)
        assert 0 <= edit.start <= edit.end <= len(text)
        after = applied(text, edit)
        assert edit.start <= edit.select_start <= edit.select_end <= edit.start + len(edit.text)
        assert after.startswith(text[: edit.start])
        assert after.endswith(text[edit.end :])


@given(HARD, st.integers(0, 40), STEPS)
def test_up_and_down_again_is_where_it_began(text, place, step):
    place = min(place, len(text))
    edit = changed_weight(text, place, place, step)
    assume(edit is not None and edit.text.startswith("(") and len(groups(applied(text, edit))) > len(groups(text)))
    after = applied(text, edit)
    back = changed_weight(after, edit.select_start, edit.select_end, -step)
    assert applied(after, back) == text


@given(st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,4}", fullmatch=True), st.data(), st.integers(1, 9))
def test_the_engine_reads_the_weight_that_was_set(text, data, times):
    place = data.draw(st.integers(0, len(text)))
    start, end = word_at(text, place)
    assume(start < end)
    word = text[start:end]
    for _ in range(times):
        edit = changed_weight(text, start, end, STEP)
        text, start, end = applied(text, edit), edit.select_start, edit.select_end
    assert Fragment(word, pytest.approx(1 + times * STEP)) in parse(text)
    assert all(part.weight == 1.0 for part in parse(text) if part.text != word)


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("a house", False),
        ("a (house)", True),
        ("a [house]", True),
        (r"\(a\) \[b\]", False),
        ("a ( b", False),
        ("] [", False),
    ],
)
def test_what_uses_weights_is_told(text, has):
    assert has_weights(text) is has


def test_a_long_prompt_of_brackets_is_read_in_one_walk():
    text = "(" * 30_000 + "x" + ")" * 30_000
    assert len(groups(text)) == 30_000
    assert applied(text, changed_weight(text, 30_000, 30_001, STEP)).count(":1.2)") == 1
