"""Numbers that may be left open."""

import pytest

from mezzotint_app.widgets.inputs.automatic_spin import AutomaticDecimal, AutomaticSpin


@pytest.fixture
def spin(qtbot):
    made = AutomaticSpin("Steps", "How long", 0, 1000, 10)
    qtbot.addWidget(made)
    return made


@pytest.fixture
def decimal(qtbot):
    made = AutomaticDecimal("Rate", "How much", high=1.0, step=0.001, decimals=6)
    qtbot.addWidget(made)
    return made


def test_below_the_smallest_number_it_is_automatic(spin):
    edited = []
    spin.edited.connect(edited.append)
    assert spin.number() is None and spin.text() == "automatic"
    spin.setValue(0)
    spin.setValue(-1)
    assert edited == [0, None]
    spin.show_number(40)
    assert spin.number() == 40 and edited == [0, None]


def test_it_shows_and_is_stepped_from_what_is_chosen_automatically(spin):
    spin.show_automatic(100)
    assert spin.text() == "automatic (100)"
    spin.stepBy(1)
    assert spin.number() == 100
    spin.stepBy(1)
    assert spin.number() == 110
    spin.show_number(None)
    spin.show_automatic(None)
    spin.stepBy(1)
    assert spin.number() == 9


def test_a_decimal_of_zero_is_automatic(decimal):
    edited = []
    decimal.edited.connect(edited.append)
    decimal.show_automatic(0.002)
    assert decimal.number() is None and decimal.text() == "automatic (0.002)"
    decimal.setValue(0.01)
    decimal.show_number(None)
    assert edited == [0.01] and decimal.number() is None
    decimal.show_automatic(None)
    assert decimal.text() == "automatic"
