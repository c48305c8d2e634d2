"""Dates as people say them."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from mezzotint_app.viewmodel.dates import day_of, moment, section

ENGLISH = QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom)
TODAY = date(2026, 11, 21)  # a Saturday


def seconds(day, hour=12):
    return datetime(day.year, day.month, day.day, hour).timestamp()


@pytest.mark.parametrize(
    ("ago", "heading"),
    [(0, "Today"), (1, "Yesterday"), (2, "Thursday"), (6, "Sunday"), (7, "November 2026"), (40, "October 2026")],
)
def test_headings(ago, heading):
    assert section(seconds(TODAY - timedelta(days=ago)), TODAY, ENGLISH) == heading


@given(st.integers(0, 4000), st.integers(0, 4000))
def test_sections_are_in_one_piece(first, second):
    """In order of time no heading comes back after another one."""
    early, late = sorted((first, second), reverse=True)
    headings = [section(seconds(TODAY - timedelta(days=days)), TODAY, ENGLISH) for days in range(late, early + 1)]
    changes = [a for a, b in zip(headings, [*headings[1:], None], strict=True) if a != b]
    assert len(changes) == len(set(changes))


@pytest.mark.parametrize("strange", [-1e18, 1e18, float("inf")])
def test_moments_that_cannot_be_are_no_trouble(strange):
    assert day_of(strange) == date(1970, 1, 1)
    assert section(strange, TODAY, ENGLISH)
    assert moment(strange, ENGLISH)
