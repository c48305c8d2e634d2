"""A seed is a number, or nothing."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtTest import QTest

from mezzotint_app.widgets.inputs.seed_box import SeedBox


@pytest.fixture
def box(qtbot):
    box = SeedBox()
    qtbot.addWidget(box)
    box.show()
    return box


@given(st.text("0123456789 -x.", max_size=22))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_typed_only_digits_are_taken(box, text):
    box.line().clear()
    told = [None]
    box.typed.connect(told.append)
    QTest.keyClicks(box.line(), text)
    shown = box.line().text()
    assert shown == "" or (shown.isdigit() and len(shown) <= 19)
    assert told[-1] == (int(shown) if shown else None)
    box.typed.disconnect(told.append)


def test_what_is_kept_is_said_without_colour(box):
    keep, _roll, reuse = box.buttons()
    box.show_seed(None, can_reuse=False)
    assert (keep.accessibleName(), keep.isChecked(), reuse.isEnabled()) == ("Lock the seed", False, False)
    assert box.line().placeholderText()
    box.show_seed(0, can_reuse=True)
    assert (keep.accessibleName(), keep.isChecked(), reuse.isEnabled()) == ("Random seed", True, True)
    assert box.line().text() == "0"
