"""Runners over the real store and the real drain."""

import pytest


@pytest.fixture
def another(tmp_path, inline):
    """A house that is not opened yet."""
    from draining import House

    houses = []

    def call(**options):
        houses.append(House(tmp_path, inline, **options))
        return houses[-1]

    yield call
    for house in houses:
        house.end()


@pytest.fixture
def house(another):
    """One that is open."""
    return another().open()
