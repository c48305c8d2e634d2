"""Intervals of control images in whole steps."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.families.control.settings import ControlSettings

WHOLE = ControlSettings(component="controlnet", tensor="control_0", weight=0.7, start=0.0, end=1.0)


@given(st.integers(1, 60), st.floats(0, 1), st.floats(0, 1))
def test_steps_are_those_of_diffusers_pipelines(steps, start, end):
    control = replace(WHOLE, start=start, end=end)
    for i in range(steps):
        keep = 1.0 - float(i / steps < start or (i + 1) / steps > end)
        assert control.at_step(i, steps).weight == 0.7 * keep
        assert WHOLE.at_step(i, steps) is WHOLE
