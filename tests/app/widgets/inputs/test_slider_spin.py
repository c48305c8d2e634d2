"""Slider and number show the same, and only hands are told of."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from mezzotint_app.widgets.inputs.slider_spin import SliderSpin


@pytest.fixture
def control(qtbot):
    control = SliderSpin("CFG scale", "tip", low=-100, high=100, bottom=-2, top=2, step=0.05, decimals=2)
    qtbot.addWidget(control)
    control.show()
    return control


@given(st.integers(-10_000, 10_000).map(lambda value: value / 100))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_value_that_is_shown_is_not_told_of_and_not_rounded(control, value):
    told = []
    control.edited.connect(told.append)
    control.show_value(value)
    assert control.value() == pytest.approx(value)
    assert told == []
    assert control.slider().value() == min(max(round((value + 2) / 0.05), 0), control.slider().maximum())
    control.edited.disconnect(told.append)


def test_the_slider_moves_the_number(control):
    told = []
    control.edited.connect(told.append)
    control.show_value(0)
    QTest.keyClick(control.slider(), Qt.Key.Key_Right)
    QTest.keyClick(control.slider(), Qt.Key.Key_Home)
    assert told == [0.05, -2.0]
    assert control.value() == -2.0


def test_the_number_goes_further_than_the_slider(control):
    told = []
    control.edited.connect(told.append)
    control.spin().selectAll()
    QTest.keyClicks(control.spin(), "33.5")
    assert told == []  # not before it is finished
    QTest.keyClick(control.spin(), Qt.Key.Key_Return)
    assert told == [33.5]
    assert control.slider().value() == control.slider().maximum()


def test_both_have_names(control):
    assert control.spin().accessibleName() == "CFG scale"
    assert control.slider().accessibleName() == "CFG scale, slider"
