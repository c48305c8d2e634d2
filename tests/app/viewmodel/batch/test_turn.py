"""The queue and a batch take turns; models that the window holds are let go of first."""

import pytest
from batch_window import FakeAccess, FakeLender, FakeModels
from fake_clock import FakeClock

from mezzotint_app.viewmodel.batch.turn import GpuTurn

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def parts():
    return FakeLender(), FakeModels(), FakeAccess(), FakeClock()


@pytest.fixture
def turn(parts):
    return GpuTurn(*parts)


def test_an_engine_that_has_made_nothing_is_left_alone(turn, parts):
    lender, models, *_ = parts
    came = []
    turn.take(lambda: came.append(True))
    assert came == [] and not turn.is_acquired()
    lender.let()
    assert came == [True] and turn.is_acquired() and models.restarted == 0
    turn.give_back()
    assert not turn.is_acquired() and lender.taken_back == 1


def test_one_that_holds_models_lets_go_of_them_once(turn, parts):
    lender, models, *_ = parts
    lender.started.emit("a task")
    for _ in range(2):
        turn.take(lambda: None)
        lender.let()
        turn.give_back()
    assert models.restarted == 1


def test_a_turn_that_is_not_wanted_any_more_does_not_come(turn, parts):
    lender, *_ = parts
    came = []
    turn.take(lambda: came.append(True))
    late = lender.then
    turn.give_back()
    late()
    assert came == [] and not turn.is_acquired()


def test_without_a_queue_nothing_is_waited_for(turn, parts):
    *_, access, clock = parts
    came = []
    turn.take(lambda: came.append(1))
    access.unusable.emit("the disk is damaged")
    clock.settle()
    turn.give_back()
    turn.take(lambda: came.append(2))
    clock.settle()
    assert came == [1, 2]
    turn.give_back()
    access.opened.emit(None)
    turn.take(lambda: came.append(3))
    clock.settle()
    assert came == [1, 2]
