"""The window has the engine drain the queue: with the real store in a folder, and the real drain on a thread."""

from pathlib import Path

import pytest
from draining import result

from mezzotint import paths
from mezzotint.errors import StorageError
from mezzotint.jobs.store import JobStore, Lease
from mezzotint.protocol import Cascade, Encoding, GenerateRequest, Output, Sampling, Stage, Step, Timings
from mezzotint.queue_protocol import TaskEnded
from mezzotint_app.settings import Settings

pytestmark = pytest.mark.requires_package("PySide6")


def test_an_entry_is_made_task_by_task(house):
    entry = house.add("a house", "a tree")
    assert house.runner.state == "working" and house.runner.task().request.prompt == "a house"
    house.succeed()
    assert house.runner.task().request.prompt == "a tree"
    house.succeed()
    assert house.states_of(entry) == ["done", "done"]
    assert house.story == [
        ("started", 1),
        ("saved", 1, 7),
        ("ended", 1, None),
        ("started", 2),
        ("saved", 2, 7),
        ("ended", 2, None),
    ]
    assert house.runner.state == "idle" and house.runner.task() is None
    assert house.drained == [(2, 0)]


@pytest.mark.parametrize("prompts", [["a house"], ["a house", "a tree"]])
def test_a_task_whose_end_was_lost_on_the_way_has_ended(house, prompts):
    house.engine.lost = TaskEnded
    house.add(*prompts)
    house.succeed()
    assert house.story[:3] == [("started", 1), ("saved", 1, 7), ("ended", 1, None)]
    assert (house.runner.task() is None) == (len(prompts) == 1)


def test_times_are_learned(house):
    cascade = Cascade(stages=(Stage(sampling=Sampling(steps=4)),))
    house.add("a house", cascade=cascade)
    timings = Timings(load=3, encode=1, denoise=(4.0,), decode=1, save=1, total=10)
    house.engine.answer(result([house.image(7)], timings=timings), method="generate")
    expected = house.look(lambda store: store.expected(house.request("another", cascade=cascade)))
    assert (expected.phases.load, expected.phases.decode) == (3, 1)


def test_events_are_passed_on_with_their_task(house):
    events = []
    house.runner.progressed.connect(lambda task, event: events.append((task.id, event)))
    house.add("a house")
    house.engine.event(Encoding(stage=0, stages=1))
    assert events == [(1, Encoding(stage=0, stages=1))]


@pytest.mark.parametrize("state", ["starting", "restarting", "given_up", "stopped"])
def test_nothing_is_claimed_while_the_engine_is_not_there(house, state):
    house.engine.become(state)
    entry = house.add("a house")
    house.clock.advance(60)
    assert house.states_of(entry) == ["waiting"] and house.asked() == []
    house.engine.become("ready")
    assert house.states_of(entry) == ["running"]


@pytest.mark.parametrize("by", ["the window", "another program"])
def test_pausing_puts_back_what_runs_and_resuming_begins_it_anew(house, by):
    entry = house.add("a house", "a tree")
    first = house.runner.task()
    if by == "the window":
        house.runner.pause()
    else:
        with JobStore.open().store as other:
            other.pause()
        house.clock.advance(2)
    assert house.runner.state == "stopping" and house.engine.is_told_to_stop()
    house.engine.fail("cancelled", "stopped")
    assert house.runner.state == "paused" and house.drained == []
    assert house.states_of(entry) == ["waiting", "waiting"]
    assert house.look(lambda store: store.row(entry)).error is None  # nothing went wrong
    house.runner.resume()
    again = house.runner.task()
    assert (again.id, again.request.seed) == (first.id, first.request.seed)
    assert len(house.asked()) == 2


def test_what_was_finished_before_the_pause_is_not_made_again(house):
    house.add("a house", count=3)
    house.save(7)
    house.runner.pause()
    house.engine.fail("cancelled", "stopped")
    house.runner.resume()
    assert house.runner.task().request.count == 2


def test_paused_and_resumed_before_the_engine_heard_it_goes_on(house):
    house.add("a house", "a tree")
    house.runner.pause()
    house.runner.resume()
    house.engine.fail("cancelled", "stopped")
    assert house.runner.state == "working" and house.runner.task().request.prompt == "a house"
    house.succeed()
    assert house.runner.task().request.prompt == "a tree"


def test_finish_this_then_stop(house):
    house.add("a house", "a tree")
    house.runner.pause_after_current()
    assert house.runner.state == "stopping"
    house.succeed()
    assert house.runner.state == "paused" and len(house.asked()) == 1 and house.drained == []


def test_stop_now_cancels_what_runs_and_the_next_begins(house):
    entry = house.add("a house", "a tree")
    house.runner.stop_now()
    assert house.engine.is_told_to_stop()
    house.engine.fail("cancelled", "stopped")
    assert house.states_of(entry) == ["cancelled", "running"]


def test_an_image_is_skipped_and_the_next_of_its_task_is_made(house):
    entry = house.add("a house", count=4)
    house.save(7)
    house.engine.event(Step(image=1, images=4, stage=0, stages=1, step=1, steps=8, sigma=1.0, preview=None))
    house.runner.skip_image()
    assert house.engine.is_told_to_stop()
    house.engine.fail("cancelled", "stopped")
    again = house.runner.task()
    assert (again.request.seed, again.request.count) == (9, 2)
    house.runner.skip_image()  # the engine has told nothing yet: the first
    house.engine.fail("cancelled", "stopped")
    assert (house.runner.task().request.seed, house.runner.task().request.count) == (10, 1)
    house.succeed(seed=10)
    assert house.states_of(entry) == ["cancelled"]
    assert house.look(lambda store: store.row(entry)).images == 2


def test_a_skipped_image_is_made_when_its_entry_is_retried(house):
    entry = house.add("a house", count=2)
    house.runner.skip_image()
    house.engine.fail("cancelled", "stopped")
    assert house.runner.task().request.seed == 8
    house.succeed(seed=8)
    assert house.states_of(entry) == ["cancelled"]
    house.access.change(lambda store: store.retry([entry]))
    assert house.runner.task().request.seed == 7
    house.succeed(seed=7)
    assert house.states_of(entry) == ["done"]


def test_a_task_that_another_program_cancels_is_stopped(house):
    entry = house.add("a house")
    with JobStore.open().store as other:
        other.cancel([entry])
    assert house.engine.is_told_to_stop()
    house.engine.fail("cancelled", "stopped")
    assert house.states_of(entry) == ["cancelled"]


def test_what_another_program_adds_is_seen(house):
    with JobStore.open().store as other:
        entry = other.add([house.request("a house")])
    house.clock.advance(2)
    assert house.states_of(entry) == ["running"]


def test_an_idle_runner_has_nothing_drained(house, monkeypatch):
    house.add("a house")
    house.succeed()
    house.clock.advance(100)
    assert house.engine.methods() == ["drain"]
    monkeypatch.setattr(JobStore, "claim", lambda self, owner: None)  # whatever waits cannot be begun
    house.add("a tree")
    house.clock.advance(100)
    assert house.engine.methods() == ["drain"] * 2


def test_a_task_whose_engine_dies_is_made_again_and_then_set_aside(house):
    entry = house.add("poison", "a tree")
    house.engine.die()
    assert house.story[-1] == ("ended", 1, "gone")
    assert house.states_of(entry) == ["waiting", "waiting"]
    house.engine.become("ready")
    assert [request.prompt for request in house.asked()] == ["poison", "poison"]
    house.engine.die()
    assert house.states_of(entry) == ["set_aside", "waiting"]
    assert any("is skipped" in words for words in house.told)
    house.engine.become("ready")
    house.succeed()
    assert house.states_of(entry) == ["set_aside", "done"]
    assert house.drained == [(1, 1)]


def test_images_made_before_the_death_are_not_made_again(house):
    house.add("a house", count=3)
    house.save(7, 0, 3)
    house.engine.die()
    house.engine.become("ready")
    assert [(request.seed, request.count) for request in house.asked()] == [(7, 3), (8, 2)]


def test_an_engine_that_the_person_restarts_costs_no_attempt(house):
    entry = house.add("a house")
    for _ in range(5):
        house.engine.die(state="starting")
        house.engine.become("ready")
    assert house.states_of(entry) == ["running"]
    assert house.look(lambda store: store.entry(entry)).tasks[0].attempts == 1


def test_after_a_lost_device_nothing_is_sent_to_the_engine_that_is_about_to_end(house):
    house.add("a house", "a tree")
    house.engine.fail("device_lost", "an illegal memory access was encountered")
    house.clock.advance(5)
    assert len(house.asked()) == 1
    house.engine.become("restarting")
    house.engine.become("ready")
    assert [request.prompt for request in house.asked()] == ["a house", "a house"]


def test_an_engine_that_lost_its_device_and_does_not_end_is_started_anew(house):
    house.add("a house")
    house.engine.fail("device_lost", "an illegal memory access was encountered")
    house.clock.advance(30)
    assert house.engine.restarts == 1


@pytest.mark.parametrize("kind", ["out_of_memory", "model_refused", "unknown_model", "usage", "bug", "storage"])
def test_what_cannot_be_made_has_failed_with_its_words_and_the_next_begins(house, kind):
    entry = house.add("a house", "a tree")
    house.engine.fail(kind, "because of that")
    tasks = house.look(lambda store: store.entry(entry)).tasks
    assert (tasks[0].state, tasks[0].error_kind) == ("failed", kind)
    assert tasks[0].error == "because of that" or (kind == "bug" and "this is a bug" in tasks[0].error)
    assert tasks[1].state == "running"


def test_a_full_disk_pauses_the_queue_and_nothing_is_lost(house):
    entry = house.add("a house", "a tree")
    house.engine.fail("storage", "cannot write /a.png: the disk is full: free some space, or choose another folder")
    assert house.states_of(entry) == ["waiting", "waiting"]
    assert house.runner.state == "paused"
    assert any("the disk is full" in words for words in house.told)
    house.clock.advance(60)
    assert len(house.asked()) == 1 and house.over == []
    house.runner.resume()
    assert house.runner.task().request.prompt == "a house"
    assert house.over == house.told  # what it told is true no more


def test_a_busy_engine_is_asked_again_later(house):
    house.engine.refusal = ("busy", "job 3 runs")
    entry = house.add("a house")
    assert house.states_of(entry) == ["waiting"] and house.told == []
    house.clock.advance(2)
    assert house.asked() == []
    house.clock.advance(10)
    assert len(house.asked()) == 1


def test_what_a_person_settles_holds_from_the_next_task_on(another):
    house = another(settings=Settings(attention="sdpa", device="cpu", previews=True)).open()
    house.add("a house", "a tree")
    house.settings.change(theme="dark", device="cuda")
    assert house.engine.methods() == ["drain", "drain_settings"]
    house.succeed()
    first, second = house.asked()
    assert (first.attention, first.device, first.previews) == ("sdpa", "cpu", True)
    assert (second.attention, second.device, second.previews) == ("sdpa", "cuda", True)
    house.settings.change(theme="light")
    house.succeed()
    house.settings.change(device="cpu")  # nothing is drained
    assert house.engine.methods() == ["drain", "drain_settings"]


def test_after_a_crash_of_the_program_the_queue_is_paused_until_the_person_resumes(another, tmp_path):
    lease = Lease.acquire("auto", what="the window")
    with JobStore.open().store as crashed:
        entry = crashed.add([GenerateRequest(prompt="a house", seed=7, output=Output(path=f"{tmp_path}/"))])
        crashed.claim(lease.owner)
    lease.release()
    house = another().open()
    assert house.states_of(entry) == ["interrupted"] and house.runner.state == "paused"
    house.clock.advance(60)
    assert house.engine.asked == []
    house.access.change(lambda store: store.resume_interrupted())
    assert house.states_of(entry) == ["running"]


def test_letting_go_puts_back_what_runs_and_frees_the_queue(house):
    entry = house.add("a house", "a tree")
    left = house.close()
    assert left == [] and house.engine.is_told_to_stop()
    house.engine.fail("cancelled", "stopped")
    assert left == [True]
    assert house.states_of(entry) == ["waiting", "waiting"]
    assert house.look(lambda store: store.entry(entry)).tasks[0].attempts == 0
    lease = Lease.acquire("auto")
    assert isinstance(lease, Lease)
    lease.release()
    house.clock.advance(60)
    assert len(house.asked()) == 1


def test_an_engine_that_does_not_stop_is_ended_when_the_window_closes(house):
    entry = house.add("a house")
    left = house.close()
    house.clock.advance(16)
    assert house.engine.now == "stopped"
    house.engine.die("The engine was stopped.", state="stopped")
    assert left == [True] and house.states_of(entry) == ["waiting"]


def test_letting_go_while_idle_is_done_at_once(house):
    assert house.close() == [True]
    lease = Lease.acquire("auto")
    assert isinstance(lease, Lease)
    lease.release()


def test_letting_go_waits_for_questions_to_the_store(house):
    house.inline.held = True
    house.clock.advance(2)
    assert house.close() == []
    house.inline.held = False
    house.inline.go()
    lease = Lease.acquire("auto")
    assert isinstance(lease, Lease)
    lease.release()


def full(*_, **__):
    raise StorageError("database or disk is full")


def test_a_queue_that_cannot_be_written_is_tried_again_and_nothing_is_begun_before(house, monkeypatch):
    entry = house.add("a house", "a tree")
    with monkeypatch.context() as patch:
        patch.setattr(JobStore, "finish", full)
        patch.setattr(JobStore, "release", full)
        house.succeed()
        assert house.told == ["database or disk is full"] and house.story[-1] == ("ended", 1, "storage")
        house.clock.advance(30)
        assert house.runner.problem() and len(house.asked()) == 1
        assert len(house.told) == 1 and house.over == []
    house.clock.advance(10)
    assert house.states_of(entry) == ["done", "running"] and not house.runner.problem()
    assert house.over == house.told


def test_a_claim_that_fails_is_tried_again(house, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(JobStore, "claim", full)
        house.add("a house")
        house.clock.advance(30)
        assert house.runner.state == "paused" and house.told == ["database or disk is full"]
        assert house.over == []
    house.clock.advance(10)
    assert house.runner.state == "working" and house.runner.problem() == ""
    assert house.over == house.told


def test_an_engine_whose_end_the_queue_cannot_be_told_of_is_told_later(house, monkeypatch):
    entry = house.add("a house")
    with monkeypatch.context() as patch:
        patch.setattr(JobStore, "on_owner_death", full)
        house.engine.die()
        house.engine.become("ready")
        house.clock.advance(30)
        assert house.states_of(entry) == ["running"] and len(house.asked()) == 1
        assert house.told == ["database or disk is full"]
    house.clock.advance(10)
    assert len(house.asked()) == 2 and house.over == house.told
    assert house.look(lambda store: store.entry(entry)).tasks[0].attempts == 2


def test_nothing_is_read_or_written_outside_the_store_s_thread(another, inline):
    """Held back, the work of the store is all that there is: the runner itself touches no file."""
    house = another()
    inline.held = True
    house.open()
    house.clock.advance(3)
    assert not list(Path(paths.state_folder()).glob("*"))
    inline.held = False
    inline.go()
    assert house.runner.state == "idle"


@pytest.mark.parametrize("leaving", [True, False])
def test_an_engine_that_ends_while_the_window_is_left_is_not_the_task_s_fault(house, leaving):
    entry = house.add("a house")
    left = []
    if leaving:
        house.runner.shut_down(lambda: left.append(True))
    house.engine.die()
    assert house.states_of(entry) == ["waiting"]
    [task] = house.look(lambda store: store.entry(entry)).tasks
    assert task.error_kind == ("put_back" if leaving else "died")
    assert left == ([True] if leaving else [])
