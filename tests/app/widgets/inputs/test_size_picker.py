"""The picker shows any size and tells what was chosen."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mezzotint_app.viewmodel.create.sizes import SizePreset
from mezzotint_app.widgets.inputs.size_picker import FREE, OWN, SizePicker

PRESETS = (
    SizePreset(name="1:1", width=128, height=128),
    SizePreset(name="16:9", width=168, height=96),
    SizePreset(name="9:16", width=96, height=168),
)


@pytest.fixture
def picker(qtbot):
    picker = SizePicker()
    qtbot.addWidget(picker)
    return picker


def all_signals(picker):
    told = []
    for name in ("default_chosen", "preset_chosen", "width_edited", "height_edited", "locked", "swapped"):
        getattr(picker, name).connect(lambda *values, name=name: told.append((name, *values)))
    return told


@given(st.integers(64, 8192), st.integers(64, 8192), st.booleans(), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_showing_a_size_tells_nothing(picker, width, height, is_own, locked):
    told = all_signals(picker)
    picker.show_size((width, height), PRESETS, (width, height), is_own=is_own, multiple=8)
    picker.show_lock(locked)
    parts = picker.parts()
    assert (parts["width"].value(), parts["height"].value()) == (width, height)
    assert parts["lock"].isChecked() is locked
    assert told == []


@pytest.mark.parametrize(
    ("size", "is_own", "value"),
    [((128, 128), True, OWN), ((128, 128), False, (128, 128)), ((96, 168), False, (96, 168)), ((96, 96), False, FREE)],
)
def test_the_shape_that_a_size_is(picker, size, is_own, value):
    picker.show_size(size, PRESETS, (128, 128), is_own=is_own, multiple=8)
    assert picker.parts()["presets"].value() == value


def test_what_is_chosen_is_told(picker):
    picker.show_size((128, 128), PRESETS, (128, 128), is_own=True, multiple=8)
    told = all_signals(picker)
    presets = picker.parts()["presets"]
    presets.choose((168, 96))
    presets.choose(OWN)
    presets.choose(FREE)
    picker.parts()["width"].stepUp()
    picker.parts()["swap"].click()
    picker.parts()["lock"].click()
    assert told == [
        ("preset_chosen", 168, 96),
        ("default_chosen",),
        ("width_edited", 136),
        ("swapped",),
        ("locked", True),
    ]
