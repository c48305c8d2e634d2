"""What becomes of tasks whose program or engine has ended."""

import pytest
from queue_programs import WritingEngine

from mezzotint.jobs.store import Recovered
from mezzotint.protocol import GenerateRequest, Output


@pytest.mark.parametrize("end", ["requeue", "on_engine_death", "recover"])
def test_what_was_cancelled_is_not_begun_again(store, request_of, end):
    entry = store.add([request_of()])
    task = store.claim("me")
    store.cancel_task(task.id)
    if end == "recover":
        assert store.recover(lambda _: False) == Recovered(cancelled=(task.id,))
    else:
        assert getattr(store, end)(task.id, because="x") == "cancelled"
    assert store.row(entry).state == "cancelled"
    assert not store.paused()
    assert store.claim("me") is None


def test_what_is_put_back_is_the_next_again_for_the_images_that_are_missing(store, request_of, make):
    store.add([request_of(count=3)])
    store.add([request_of("another")])
    task = store.claim("me")
    make(task, 1)
    assert store.requeue(task.id, because="stopped") == "waiting"
    again = store.claim("me")
    assert (again.id, again.request.seed, again.request.count, again.attempts) == (task.id, 8, 2, 1)
    make(again)
    assert store.finish(again.id) == "done"
    assert [image.index for image in store.entry(1).tasks[0].images] == [0, 1, 2]


def test_an_image_that_came_after_it_was_put_back_is_not_made_again(store, request_of, make):
    store.add([request_of()])
    store.add([request_of("another")])
    task = store.claim("me")
    store.requeue(task.id, because="stopped")
    make(task)
    assert store.claim("me").request.prompt == "another"
    assert store.row(1).state == "done"


def test_two_deaths_set_a_task_aside_and_a_person_may_try_again(store, request_of):
    entry = store.add([request_of(), request_of("good")])
    first = store.claim("me")
    assert store.on_engine_death(first.id, because="exit code 139") == "waiting"
    assert store.entry(entry).tasks[0].error == "exit code 139"
    again = store.claim("me")
    assert (again.id, again.attempts, again.error) == (first.id, 2, None)
    assert store.on_engine_death(again.id, because="exit code 139") == "set_aside"
    assert "2 times" in store.row(entry).error and "exit code 139" in store.row(entry).error
    assert store.claim("me").request.prompt == "good"
    store.retry([entry])
    assert store.entry(entry).tasks[0].state == "waiting"
    assert store.claim("me").attempts == 1


def test_an_end_in_good_order_is_no_death(store, request_of):
    store.add([request_of()])
    for _ in range(5):
        store.requeue(store.claim("me").id, because="stopped")
    store.on_engine_death(store.claim("me").id, because="x")
    store.requeue(store.claim("me").id, because="stopped")
    assert store.on_engine_death(store.claim("me").id, because="x") == "set_aside"


def test_recovery_after_the_program_has_died(store, opened, request_of, make):
    """All images there: done. Died once: asked about, and the queue pauses. Died twice: set aside."""
    for prompt in ("there", "once", "twice", "alive"):
        store.add([request_of(prompt)])
    there, once = store.claim("dead"), store.claim("dead")
    store.on_engine_death(store.claim("dead").id, because="x")
    twice = store.claim("dead")
    assert twice.request.prompt == "twice"
    alive = store.claim("alive")
    make(there)
    recovered = opened().store.recover(lambda owner: owner == "alive")
    assert recovered == Recovered(done=(there.id,), interrupted=(once.id,), set_aside=(twice.id,))
    assert [task.id for task in store.interrupted()] == [once.id]
    assert store.paused()
    assert store.row(alive.entry).state == "running"
    assert store.recover(lambda owner: owner == "alive") == Recovered()
    store.resume_interrupted()
    assert not store.paused()
    again = store.claim("new")
    assert (again.id, again.attempts) == (once.id, 2)  # its first death is not forgotten


def test_nothing_to_recover_is_no_reason_to_pause(store, request_of, make):
    store.add([request_of()])
    make(store.claim("dead"))
    assert store.recover(lambda _: False).done == (1,)
    assert not store.paused()


def test_only_some_of_the_interrupted_go_on(store, request_of):
    store.add([request_of("a")])
    store.add([request_of("b")])
    store.claim("dead"), store.claim("dead")
    store.recover(lambda _: False)
    store.resume_interrupted([2])
    assert (store.row(1).state, store.row(2).state) == ("interrupted", "waiting")
    store.cancel([1])
    assert store.row(1).state == "cancelled"


def test_what_comes_after_recovery_is_found_before_it_is_made_again(store, tmp_path):
    """An engine may outlive its window by an image."""
    store.add([GenerateRequest(prompt="p", seed=5, output=Output(path=f"{tmp_path}/[seed].png"))])
    task = store.claim("dead")
    store._database.connection.execute("UPDATE entries SET started = 0")
    assert store.recover(lambda _: False).interrupted == (task.id,)
    WritingEngine().write(task.request, 0)
    store.resume_interrupted()
    assert store.claim("me") is None
    assert store.row(1).state == "done"


def test_trying_again_what_was_interrupted_does_not_forget_its_death(store, request_of):
    entry = store.add([request_of()])
    store.claim("dead")
    store.recover(lambda _: False)
    store.resume()
    store.retry([entry])
    task = store.claim("dead")
    assert task.attempts == 2
    assert store.recover(lambda _: False).set_aside == (task.id,)


def test_release_gives_back_what_one_owner_has(store, request_of):
    store.add([request_of(), request_of()])
    mine, other = store.claim("me"), store.claim("other")
    store.release("me", because="ending")
    assert [task.state for task in store.entry(1).tasks] == ["waiting", "running"]
    assert store.claim("me").id == mine.id
    assert other.id != mine.id


def test_an_engine_that_dies_takes_what_it_was_making_with_it_and_nothing_else(store, request_of):
    entry = store.add([request_of("poison"), request_of("good")])
    for state in ("waiting", "set_aside"):
        assert store.claim("me").request.prompt == "poison"
        assert store.on_owner_death("another", because="x") == ()
        assert store.on_owner_death("me", because="exit code 139") == (state,)
    assert [task.state for task in store.entry(entry).tasks] == ["set_aside", "waiting"]
    assert store.has_waiting() and not store.paused()


def test_what_is_released_counts_the_images_that_are_there(store, tmp_path):
    request = GenerateRequest(prompt="a", seed=7, count=2, output=Output(path=f"{tmp_path}/out/[seed].png"))
    store.add([request])
    store._database.connection.execute("UPDATE entries SET started = 0")
    store.claim("me")
    WritingEngine().write(request, 0)
    store.release("me", because="")
    assert (store.row(1).state, store.row(1).images) == ("waiting", 1)
    assert store.claim("me").request.seed == 8


def test_what_a_dead_program_was_making_is_known_before_it_is_recovered(store, request_of):
    for owner in ("dead", "alive"):
        store.add([request_of(owner)])
        store.claim(owner)
    assert store.abandoned(lambda owner: owner == "alive") == {1}
    store.recover(lambda owner: owner == "alive")
    assert store.abandoned(lambda owner: owner == "alive") == frozenset()


def test_whether_anything_waits(store, request_of):
    assert not store.has_waiting()
    entry = store.add([request_of()])
    assert store.has_waiting()
    store.cancel([entry])
    assert not store.has_waiting()


def test_what_nobody_waits_for_any_more_is_asked_about(store, request_of, make):
    entry = store.add([request_of(count=2)])
    task = store.claim("me")
    make(task, 1)
    assert store.interrupt(task.id) == "interrupted"
    assert store.paused() and [one.id for one in store.interrupted()] == [task.id]
    store.resume_interrupted()
    again = store.claim("me")
    make(again)
    assert store.interrupt(again.id) == "done"
    assert store.row(entry).state == "done" and not store.paused()
