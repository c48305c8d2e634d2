"""The weight grammar and the chunks that come of it."""

import re
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.families.text.clip_prompt import (
    CHUNK_LIMIT,
    PROMPT_LIMIT,
    WEIGHT_LIMIT,
    Break,
    Chunk,
    Fragment,
    chunk,
    has_weights,
    parse,
)

SYNTAX = st.lists(
    st.sampled_from([*"()[]:\\, .1+-ab\n", "BREAK", " BREAK ", ":1.5)", "nan", "inf", "é"]), max_size=60
).map("".join)
PLAIN = st.text(alphabet=st.characters(exclude_characters="()[]\\", exclude_categories=("Cs",))).filter(
    lambda text: not re.search(r"\bBREAK\b", text)
)


def fragments(prompt):
    return [(part.text, round(part.weight, 6)) if isinstance(part, Fragment) else "BREAK" for part in parse(prompt)]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("", []),
        ("a cat", [("a cat", 1)]),
        ("a (red) cat", [("a ", 1), ("red", 1.1), (" cat", 1)]),
        ("a (red:1.3) cat", [("a ", 1), ("red", 1.3), (" cat", 1)]),
        ("a [red] cat", [("a ", 1), ("red", round(1 / 1.1, 6)), (" cat", 1)]),
        ("((a))", [("a", 1.21)]),
        ("(a (b:2):3)", [("a ", 3), ("b", 6)]),
        ("([a])", [("a", 1)]),
        ("(a [b) c]", [("a ", 1.1), ("b", 1), (" c", round(1 / 1.1, 6))]),
        (r"a \(film\) \[x\] \\", [(r"a (film) [x] " + "\\", 1)]),
        (r"(a \) b)", [("a ) b", 1.1)]),
        (r"a\b", [(r"a\b", 1)]),
        ("(a: .5 ) ( b : +2.)", [("a", 0.5), (" ", 1), (" b ", 2)]),
        ("(a:-1)", [("a", -1)]),
        ("(a:0)", [("a", 0)]),
        ("[a:1.3]", [("a:1.3", round(1 / 1.1, 6))]),
        ("12:30 (at 12:30:1.2)", [("12:30 ", 1), ("at 12:30", 1.2)]),
        ("(a", [("(a", 1)]),
        ("a)", [("a)", 1)]),
        ("a:1.3)", [("a:1.3)", 1)]),
        ("[a (b]", [("a (b", round(1 / 1.1, 6))]),
        (")(", [(")(", 1)]),
        ("()", []),
        ("(a:nan)", [("a:nan", 1.1)]),
        ("(a:inf)", [("a:inf", 1.1)]),
        ("(a:1e9)", [("a:1e9", 1.1)]),
        ("(a:1.2.3)", [("a:1.2.3", 1.1)]),
        ("(a:99999)", [("a", 10)]),
        ("(a:-" + "9" * 400 + ")", [("a", -10)]),
        ("(" * 9000 + "a" + ")" * 9000, [("a", 10)]),
        ("(a:0)" + "(" * 9000 + "b" + ":9)" * 9000, [("a", 0), ("b", 10)]),
        ("a BREAK b", [("a ", 1), "BREAK", (" b", 1)]),
        ("(a BREAK b:1.5)", [("a ", 1.5), "BREAK", (" b", 1.5)]),
        ("(BREAK)", ["BREAK"]),
        ("BREAKFAST break", [("BREAKFAST break", 1)]),
    ],
)
def test_grammar(prompt, expected):
    assert fragments(prompt) == expected


@given(PLAIN)
def test_plain_text_is_untouched(text):
    assert parse(text) == ((Fragment(text, 1.0),) if text else ())
    assert not has_weights(text)


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",))).filter(lambda text: "BREAK" not in text))
def test_escaped_text_is_itself(text):
    escaped = re.sub(r"([\\()\[\]])", r"\\\1", text)
    assert parse(escaped) == ((Fragment(text, 1.0),) if text else ())


@given(SYNTAX)
def test_any_prompt_is_read(prompt):
    parts = parse(prompt)
    for before, after in pairwise(parts):
        assert isinstance(before, Break) or isinstance(after, Break) or before.weight != after.weight
    for part in parts:
        if isinstance(part, Fragment):
            assert part.text
            assert -WEIGHT_LIMIT <= part.weight <= WEIGHT_LIMIT
    shown = "".join(part.text if isinstance(part, Fragment) else "BREAK" for part in parts)
    assert len(shown) <= len(prompt)
    assert has_weights(prompt) == any(isinstance(part, Break) or part.weight != 1 for part in parts)


@given(st.lists(st.sampled_from("()ab")).map("".join))
def test_round_brackets_agree_with_counting(prompt):
    """Weight is 1.1 to the depth of paired brackets; a bracket without a partner is shown."""
    open_places, paired = [], set()
    for place, character in enumerate(prompt):
        if character == "(":
            open_places.append(place)
        elif character == ")" and open_places:
            paired |= {open_places.pop(), place}
    expected, depth = [], 0
    for place, character in enumerate(prompt):
        if place in paired:
            depth += 1 if character == "(" else -1
        else:
            expected.append((character, min(1.1**depth, 10)))
    got = [(character, part.weight) for part in parse(prompt) for character in part.text]
    assert [c for c, _ in got] == [c for c, _ in expected]
    assert [w for _, w in got] == pytest.approx([w for _, w in expected])


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("pattern", ["(", ")", "(a", ":1", "1", ":", "((:1.1)", " ", "\\", "[(", "BREAK ", "a,", ": "])
def test_a_very_long_prompt_is_refused_but_can_be_looked_at(pattern):
    prompt = ":" + pattern * (2**17 // len(pattern))
    with pytest.raises(UsageError, match=str(PROMPT_LIMIT)):
        parse(prompt)
    assert has_weights(prompt) is (pattern == "BREAK ")
    assert parse(prompt[:PROMPT_LIMIT])


def test_what_is_no_text_is_refused():
    with pytest.raises(UsageError, match="character 3"):
        parse("ab\udcff")


# ---- chunks

WORD = {word: index for index, word in enumerate(["<end>", ",", *string.ascii_lowercase])}


def tokenize(text):
    """One token for each letter and comma; digits are learned words of that many vectors."""
    ids = []
    for character in text:
        if character.isdigit():
            ids += [-1 - vector for vector in range(int(character))]
        elif character in WORD:
            ids.append(WORD[character])
    return ids


def sizes(prompt, capacity=75):
    return [len(part.ids) for part in chunk(parse(prompt), tokenize, capacity)]


def test_an_empty_prompt_is_one_chunk():
    assert chunk(parse(""), tokenize) == (Chunk((), ()),)
    assert chunk(parse("()"), tokenize) == (Chunk((), ()),)


def test_weights_go_with_their_tokens():
    assert chunk(parse("ab(c:2)"), tokenize) == (Chunk((2, 3, 4), (1.0, 1.0, 2.0)),)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("a" * 75, [75]),
        ("a" * 76, [75, 1]),
        ("a" * 60 + "," + "b" * 14, [75]),
        ("a" * 60 + "," + "b" * 15, [61, 15]),
        ("a" * 55 + "," + "b" * 20, [56, 20]),
        ("a" * 54 + "," + "b" * 21, [75, 1]),  # 20 tokens lie behind that comma: too far
        ("a" * 74 + "," + "b", [75, 1]),
        ("a" * 75 + "," + "b", [75, 2]),
        ("a" * 60 + "," + "b" * 30 + "," + "c" * 50, [61, 75, 6]),
        ("a" * 60 + "," + "b" * 60 + "," + "c" * 50, [61, 61, 50]),
        ("a BREAK b", [1, 1]),
        ("a BREAK", [1]),
        ("BREAK a", [0, 1]),
        ("a BREAK BREAK b", [1, 0, 1]),
        ("a" * 70 + "9", [70, 9]),
        ("a" * 60 + "," + "b" * 10 + "9", [61, 19]),
        ("a" * 66 + "9", [75]),
    ],
)
def test_where_chunks_end(prompt, expected):
    assert sizes(prompt) == expected


@given(SYNTAX, st.integers(1, 8))
def test_chunks_hold_every_token_in_order(prompt, capacity):
    parts = parse(prompt)
    tokens = [(token, part.weight) for part in parts if isinstance(part, Fragment) for token in tokenize(part.text)]
    if len(tokens) + len(parts) < CHUNK_LIMIT:
        chunks = chunk(parts, tokenize, capacity)
        assert [pair for part in chunks for pair in zip(part.ids, part.weights, strict=True)] == tokens
        assert all(len(part.ids) <= capacity for part in chunks)
        assert chunks


@given(st.text(alphabet="ab,5", max_size=60))
def test_learned_words_are_not_cut(prompt):
    for part in chunk(parse(prompt.replace("5", "a5")), tokenize, 10):
        learned = [-token for token in part.ids if token < 0]
        assert learned == [1, 2, 3, 4, 5] * (len(learned) // 5)


def test_more_learned_vectors_than_a_chunk_holds_are_cut():
    assert sizes("9", capacity=4) == [4, 4, 1]


def test_too_many_chunks_are_refused():
    assert len(sizes("a" * 75 * CHUNK_LIMIT)) == CHUNK_LIMIT
    with pytest.raises(UsageError, match="4800 tokens"):
        sizes("a" * (75 * CHUNK_LIMIT + 1))
