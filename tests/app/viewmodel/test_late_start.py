"""Only a start that takes long is called so."""

import pytest
from fake_clock import FakeClock
from fake_supervised import FakeSupervised

from mezzotint_app.viewmodel.late_start import LATE, LateStart

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def engine():
    made = FakeSupervised()
    made.now = "stopped"
    return made


def test_a_long_start_is_told_and_taken_back_when_it_is_there(clock, engine):
    late = LateStart(engine.state, engine.changed, clock)
    told = []
    late.changed.connect(lambda: told.append(late.is_late()))
    engine.become("starting")
    clock.advance(LATE - 1)
    engine.changed.emit()
    assert not late.is_late()
    clock.advance(1)
    assert late.is_late()
    engine.become("ready")
    assert told == [True, False]


@pytest.mark.parametrize("state", ["ready", "restarting", "given_up", "stopped"])
def test_what_does_not_start_is_never_late(clock, engine, state):
    late = LateStart(engine.state, engine.changed, clock)
    engine.become("starting")
    clock.advance(LATE / 2)
    engine.become(state)
    clock.advance(10 * LATE)
    assert not late.is_late()
    assert not clock.waiting()
