"""The lease is ours while it is free, lent to a batch of this window, and left to other programs."""

import pytest

from mezzotint.jobs.store import Lease

pytestmark = pytest.mark.requires_package("PySide6")


def test_while_another_program_works_at_the_queue_this_one_waits(another):
    lease = Lease.acquire("auto", what="mezzotint queue run")
    house = another().open()
    entry = house.add("a house")
    assert house.runner.state == "elsewhere" and "mezzotint queue run" in house.runner.held_by()
    assert house.states_of(entry) == ["waiting"]
    lease.release()
    house.clock.advance(6)
    assert house.runner.state == "working" and house.runner.held_by() == ""


def test_the_queue_is_worked_off_before_the_lease_is_lent_and_goes_on_when_it_is_back(house):
    lent = []
    entry = house.add("a house", "a tree")
    house.runner.lend(lambda: lent.append(Lease.acquire("auto", what="a batch")))
    house.clock.advance(3)
    assert lent == [] and house.runner.state == "working"
    house.succeed()
    assert lent == []
    house.succeed()
    house.clock.advance(3)
    assert isinstance(lent[0], Lease) and house.runner.state == "elsewhere" and house.runner.is_lent()
    assert house.states_of(entry) == ["done", "done"]
    later = house.add("a boat")
    house.clock.advance(30)
    assert house.states_of(later) == ["waiting"]
    lent[0].release()
    house.runner.take_back()
    house.clock.advance(6)
    assert house.runner.state == "working" and house.states_of(later) == ["running"] and len(lent) == 1


def test_the_borrower_is_named(house):
    for who, name in (("Training", "Training"), ("", "A batch")):
        house.runner.lend(lambda: None, who, "training was started")
        house.clock.advance(3)
        assert house.runner.held_by() == name
        house.runner.take_back()
        house.clock.advance(6)


def test_a_paused_queue_lends_at_once_and_a_starting_engine_is_waited_for(house):
    lent = []
    house.add("a house")
    house.runner.pause()
    house.engine.fail("cancelled", "stopped")
    house.runner.lend(lambda: lent.append("paused"))
    house.clock.advance(2)
    assert lent == ["paused"]
    house.engine.become("starting")
    house.runner.take_back()
    house.runner.resume()
    house.clock.advance(6)
    house.runner.lend(lambda: lent.append("ready"))
    house.clock.advance(30)
    assert lent == ["paused"]
    house.engine.become("given_up")
    house.clock.advance(2)
    assert lent == ["paused", "ready"]


def test_what_is_not_wanted_any_more_is_not_lent(house):
    lent = []
    house.add("a house")
    house.runner.lend(lambda: lent.append("lent"))
    house.runner.take_back()
    house.succeed()
    house.clock.advance(10)
    assert lent == [] and house.runner.state == "idle" and not house.runner.is_lent()


def test_one_that_still_has_it_when_it_is_taken_back_is_waited_for(house):
    held = []
    house.runner.lend(lambda: held.append(Lease.acquire("auto", what="a batch")))
    house.clock.advance(2)
    house.runner.take_back()
    entry = house.add("a house")
    house.clock.advance(12)
    assert house.states_of(entry) == ["waiting"] and "a batch" in house.runner.held_by()
    held[0].release()
    house.clock.advance(6)
    assert house.states_of(entry) == ["running"]


def test_letting_go_while_another_has_the_queue(another):
    with Lease.acquire("auto", what="another"):
        house = another().open()
        assert house.close() == [True]
    house.clock.advance(60)
    lease = Lease.acquire("auto")
    assert isinstance(lease, Lease), "it must not be taken after it was let go"
    lease.release()
