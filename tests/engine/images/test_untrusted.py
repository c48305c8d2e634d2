import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.untrusted import (
    MAX_OTHER,
    MAX_TEXT,
    UnreadableError,
    cleaned,
    mapping,
    others,
    parse_object,
    real,
    text,
    whole,
)


@pytest.mark.parametrize(
    ("value", "number"),
    [(7, 7), ("7", 7), (" 7 ", 7), (20.0, 20), ("20.0", 20), ("18446744073709551615", 2**64 - 1), (-1, -1)],
)
def test_whole_numbers_in_every_dress(value: object, number: int) -> None:
    assert whole(value) == number


@pytest.mark.parametrize(
    "value", [None, True, 1.5, "", "x", "7x", float("nan"), float("inf"), 2**64, "9" * 5000, 10**4000, [7], "\u0667x"]
)
def test_what_is_no_whole_number(value: object) -> None:
    assert whole(value) is None


@pytest.mark.parametrize("value", [None, True, "", "x", float("nan"), "inf", "1e999", 10**4000, "1" * 100, [1.0]])
def test_what_is_no_finite_number(value: object) -> None:
    assert real(value) is None


def test_finite_numbers() -> None:
    assert (real(7), real("7.5"), real(0.4)) == (7.0, 7.5, 0.4)


@given(st.text())
def test_cleaned_text_is_harmless_to_a_terminal(value: str) -> None:
    clean = cleaned(value)
    clean.encode()
    assert not any((ord(one) < 32 and one not in "\n\t") or 127 <= ord(one) < 160 for one in clean)


def test_long_text_is_cut_and_says_so() -> None:
    clean = cleaned("x" * (MAX_TEXT + 5))
    assert clean == "x" * MAX_TEXT + " ... (cut)"


@pytest.mark.parametrize("written", ["[" * 100_000, '{"a":' * 50_000, "{", "[]", "3", '{"a": 1e', "9" * 5000, "\ud800"])
def test_bad_json_says_why(written: str) -> None:
    with pytest.raises(UnreadableError, match="JSON"):
        parse_object(written)


def test_long_json_is_not_read() -> None:
    with pytest.raises(UnreadableError, match="at most"):
        parse_object(json.dumps({"a": "x" * MAX_TEXT}))


def test_nan_is_read_as_comfyui_writes_it() -> None:
    assert set(parse_object('{"is_changed": NaN}')) == {"is_changed"}


def test_others_are_few_and_short() -> None:
    deep: object = []
    for _ in range(100_000):
        deep = [deep]
    values = {"empty": None, "deep": deep, "long": "x" * 5000, "list": [1, "ü"]} | {f"k{n}": n for n in range(500)}
    rest = others(values)
    assert len(rest) == MAX_OTHER + 1 and "empty" not in rest
    assert rest["further"] == f"{503 - MAX_OTHER} settings"
    assert rest["list"] == '[1, "ü"]' and len(rest["long"]) < 2100 and "nested" in rest["deep"]


def test_text_and_mapping_take_only_their_kind() -> None:
    assert text(3) is None and text("a\x1b") == "a"
    assert mapping([1]) == {} and mapping({"a": 1}) == {"a": 1}
