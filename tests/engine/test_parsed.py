"""Values that can only be taken with what was not used and what was guessed."""

from mezzotint.parsed import Guess, Parsed, enumerated


def test_taking_a_value_reports_what_was_not_used_and_what_was_guessed():
    guess = Guess(assumed="v prediction", reason="the file name", option="--prediction-type")
    said = []

    value = Parsed(7, source="a.safetensors", unused=("Clip skip: 2",), guesses=(guess,)).take(said.append)

    assert value == 7
    assert said == [
        "a.safetensors: not used: Clip skip: 2",
        "a.safetensors: v prediction is assumed, from the file name; --prediction-type overrides it",
    ]


def test_a_value_cannot_be_read_in_passing():
    assert not [name for name in dir(Parsed(7, source="a")) if name == "value"]


def test_nothing_is_said_of_input_that_was_used_whole():
    said = []
    Parsed(7, source="a").take(said.append)
    assert said == []


def test_map_keeps_the_notices():
    doubled = Parsed(7, source="a", unused=("x",)).map(lambda value: value * 2)
    said = []
    assert doubled.take(said.append) == 14
    assert said == ["a: not used: x"]


def test_merge_keeps_the_notices_of_both():
    guess = Guess(assumed="b", reason="c")
    merged = Parsed(1, source="a", unused=("x",)).merge(
        Parsed(2, source="z", unused=("y",), guesses=(guess,)), lambda one, other: one + other
    )
    said = []
    assert merged.take(said.append) == 3
    assert said == ["a: not used: x, y", "a: b is assumed, from c"]


def test_many_names_are_counted():
    assert enumerated(tuple("abcdefghij")) == "a, b, c, d, e, f, g, h and 2 more"
