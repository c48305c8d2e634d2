"""Bytes and seconds in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from mezzotint_app.amounts import about_text, bytes_of, bytes_text, duration_text, left_text, with_whole_amounts


@pytest.fixture(autouse=True)
def _plain_numbers():
    QLocale.setDefault(QLocale.c())


@pytest.mark.parametrize(
    ("count", "text"), [(1024, "1.0 kB"), (5 << 20, "5.0 MB"), (int(6.9 * 2**30), "6.9 GB"), (7 << 40, "7168.0 GB")]
)
def test_bytes(count, text):
    assert bytes_text(count) == text


def test_two_counts():
    assert bytes_of(1 << 30, 2 << 30) == "1.0 GB of 2.0 GB"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "under 1 s"), (12.4, "12 s"), (89, "89 s"), (180, "3 min"), (7500, "2 h 5 min"), (360_000, "100 h 0 min")],
)
def test_durations(seconds, text):
    assert duration_text(seconds) == text


@given(st.floats(0, 1e7), st.floats(1, 1e6))
def test_longer_is_never_told_as_shorter(seconds, more):
    def read(text):
        numbers = [int(word) for word in text.split() if word.isdigit()]
        if "h" in text.split():
            return numbers[0] * 3600 + numbers[1] * 60
        return 0 if text == "under 1 s" else numbers[0] * (60 if "min" in text else 1)

    assert read(duration_text(seconds)) <= read(duration_text(seconds + 60 + more))


def test_what_is_not_known_is_not_told():
    assert left_text(None) == ""
    assert "3 min" in left_text(180)
    assert left_text(0.2) == "nearly done"


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "under 1 s"), (35, "about 35 s"), (7500, "about 2 h 5 min")])
def test_how_long_something_takes(seconds, words):
    assert about_text(seconds) == words


def test_units_stay_with_their_numbers():
    assert with_whole_amounts("Needs 3.6 GB of 8 GB, about 2 h 5 min in 3 steps").split(" ") == [
        *("Needs", "3.6\u00a0GB", "of", "8\u00a0GB,", "about", "2\u00a0h", "5\u00a0min", "in", "3", "steps"),
    ]
