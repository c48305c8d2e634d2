"""The queue as a person and a maker of images use it."""

import itertools
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint import paths
from mezzotint.errors import StorageError, UsageError
from mezzotint.jobs.store import JobStore, Opened, PhaseSeconds, TaskCounts, queue_path
from mezzotint.protocol import Cascade, ControlRef, GenerateRequest, ImageInput, ModelRef, Output, Stage

SECONDS = PhaseSeconds(load=4, encode=1, step=0.5, decode=2, save=1, steps=20)


def ids(store, **options):
    return [row.id for row in store.rows(**options)]


def test_it_lies_in_the_folder_of_what_is_under_way(monkeypatch, tmp_path):
    monkeypatch.setenv("MEZZOTINT_STATE", str(tmp_path / "state"))
    assert queue_path() == tmp_path / "state" / "queue.sqlite" == paths.state_folder() / "queue.sqlite"
    with JobStore.open().store as store:
        assert store.count() == 0
    assert queue_path().is_file()


def test_what_is_added_is_there_when_it_is_opened_again(opened, request_of):
    entry = opened().store.add([request_of("a barn", count=3), request_of("a boat")], title="two things")
    found = opened().store.entry(entry)
    assert (found.row.title, found.row.state, found.row.tasks, found.row.images_asked) == (
        "two things",
        "waiting",
        2,
        4,
    )
    assert [task.request for task in found.tasks] == [request_of("a barn", count=3), request_of("a boat")]
    assert found.row.counts == TaskCounts(waiting=2)


def test_a_row_says_what_a_list_shows(store, request_of):
    stage = Stage(model=ModelRef(id="sdxl-base"))
    row = store.row(store.add([request_of("  a barn\nat  night ", cascade=Cascade(stages=(stage,)))]))
    assert (row.title, row.model, row.kind, row.images, row.first_image) == (
        "a barn at night",
        "sdxl-base",
        "generate",
        0,
        None,
    )
    assert row.created > 0
    assert row.started is row.finished is row.error is None


def test_the_way_of_a_task(store, request_of, make):
    entry = store.add([request_of(count=2)])
    task = store.claim("me")
    assert (task.state, task.attempts, task.request) == ("running", 1, request_of(count=2))
    assert store.row(entry).state == "running"
    make(task)
    assert store.finish(task.id, SECONDS) == "done"
    found = store.entry(entry)
    assert (found.row.state, found.row.images, found.row.first_image) == ("done", 2, "/out/7.png")
    assert found.row.started < found.row.finished
    (done,) = found.tasks
    assert [(image.seed, image.index) for image in done.images] == [(7, 0), (8, 1)]
    assert (done.attempts, done.error) == (0, None)
    assert done.seconds > 0
    assert store.claim("me") is None


def test_tasks_come_in_the_order_of_the_queue(store, request_of):
    first = store.add([request_of("1"), request_of("2")])
    store.add([request_of("3")])
    store.add([request_of("0")], front=True)
    store.add([request_of("2.5")], before=2)
    store.move([first], before=None)
    assert [store.claim("me").request.prompt for _ in range(5)] == ["0", "2.5", "3", "1", "2"]
    assert store.claim("me") is None


def test_front_is_before_what_waits_and_not_before_what_is_over(store, request_of, make):
    over = store.add([request_of("over")])
    store.finish(make_done(store, make), SECONDS)
    waits = store.add([request_of("waits")])
    new = store.add([request_of("new")], front=True)
    assert ids(store) == [over, new, waits]


def make_done(store, make):
    task = store.claim("me")
    make(task)
    return task.id


@given(st.data())
def test_moving_keeps_the_order_of_what_is_moved_and_of_what_stays(tmp_path_factory, data):
    with JobStore.open(tmp_path_factory.mktemp("queue") / "queue.sqlite").store as store:
        store._database.connection.execute("PRAGMA synchronous = OFF")
        order = [store.add([GenerateRequest(prompt="x")]) for _ in range(8)]
        for _ in range(data.draw(st.integers(1, 5))):
            moved = data.draw(st.sets(st.sampled_from(order)))
            before = data.draw(st.sampled_from([*order, None]))
            store.move(moved, before)
            after = order[order.index(before) :] if before is not None else []
            rest = [one for one in order if one not in moved]
            at = next((rest.index(one) for one in after if one not in moved), len(rest))
            order = rest[:at] + [one for one in order if one in moved] + rest[at:]
            assert ids(store) == order


def test_there_is_always_room_between_two(store, request_of):
    last = store.add([request_of("last")])
    for number in range(200):  # more halvings than a number has digits
        store.add([request_of(str(number))], before=last)
    assert [row.title for row in store.rows()] == [*map(str, range(200)), "last"]
    first = ids(store)[0]
    for _ in range(120):
        store.move([ids(store)[1]], before=first)
        first = ids(store)[0]
    assert len(set(ids(store))) == 201


def test_the_images_that_entries_begin_from_are_known(store):
    def begun_from(*paths):
        return GenerateRequest(prompt="a", images=tuple(ImageInput(path=path) for path in paths))

    store.add([begun_from("/init.png", "/mask.png")])
    store.add([begun_from("/one.png"), begun_from("/two \u00e9.png"), GenerateRequest(prompt="b")])
    controls = [(ControlRef(image=f"/edges{number}.png", model="m"),) for number in range(2)]
    store.add([GenerateRequest(prompt="b", controls=each) for each in controls])
    images = {"/init.png", "/mask.png", "/one.png", "/two \u00e9.png", "/edges0.png", "/edges1.png"}
    assert store.request_images() == images


def test_pages_and_states(store, request_of):
    for number in range(5):
        store.add([request_of(str(number))])
    store.cancel([2, 4])
    assert ids(store, offset=1, limit=2) == [2, 3]
    assert ids(store, states=["waiting"]) == [1, 3, 5]
    assert ids(store, states=["waiting", "cancelled"], offset=3) == [4, 5]
    assert ids(store, states=[]) == []
    assert (store.count(), store.count(["cancelled"]), store.count([])) == (5, 2, 0)


def test_pause_resume_and_stop_after_what_runs(store, opened, request_of):
    store.add([request_of(), request_of()])
    store.pause()
    assert store.paused() and opened().store.paused()
    assert store.claim("me") is None
    store.resume()
    task = store.claim("me")
    store.stop_after_current(True)
    assert store.stops_after_current() and not store.paused()
    store.fail(task.id, "failed", "no")
    assert store.claim("me") is None
    assert store.paused() and not store.stops_after_current()
    store.resume()
    store.stop_after_current(True)
    store.stop_after_current(False)
    assert store.claim("me") is not None


def test_cancel_ends_what_waits_and_marks_what_runs(store, request_of):
    entry = store.add([request_of(count=2), request_of()])
    task = store.claim("me")
    assert not store.is_cancel_requested(task.id)
    store.cancel([entry])
    assert store.is_cancel_requested(task.id)
    assert store.row(entry).counts == TaskCounts(running=1, cancelled=1)
    assert store.fail(task.id, "cancelled", "stopped") == "cancelled"
    assert (store.row(entry).state, store.row(entry).error) == ("cancelled", None)
    assert store.claim("me") is None


def test_what_is_finished_all_the_same_is_done(store, request_of, make):
    store.add([request_of()])
    task = store.claim("me")
    store.cancel_task(task.id)
    make(task)
    assert store.finish(task.id) == "done"


def test_a_task_of_a_removed_entry_is_to_be_stopped(store, request_of, image_of):
    entry = store.add([request_of()])
    task = store.claim("me")
    assert store.remove([entry]) == (entry,)  # it runs: it stays until it has stopped
    assert store.is_cancel_requested(task.id)
    assert store.fail(task.id, "cancelled", "stopped") == "cancelled"
    assert store.remove([entry]) == ()
    assert store.count() == 0
    assert store.is_cancel_requested(task.id)
    store.saved(task.id, image_of(task.request))
    assert (
        store.finish(task.id)
        is store.requeue(task.id, because="")
        is store.on_engine_death(task.id, because="")
        is None
    )


@pytest.mark.parametrize("state", ["done", "failed", "cancelled", "waiting"])
def test_only_what_runs_ends(store, request_of, make, state):
    entry = store.add([request_of()])
    task = store.claim("me")
    if state == "waiting":
        store.requeue(task.id, because="x")
    elif state == "done":
        make(task)
        store.finish(task.id)
    else:
        store.fail(task.id, state, "x")
    before = store.entry(entry)
    assert store.finish(task.id) is store.fail(task.id, "failed", "late") is store.requeue(task.id, because="") is None
    assert store.on_engine_death(task.id, because="") is None
    assert store.entry(entry) == before


def test_an_image_told_twice_is_kept_once_and_a_strange_one_not_at_all(store, request_of, image_of):
    entry = store.add([request_of(count=2)])
    task = store.claim("me")
    store.saved(task.id, image_of(task.request))
    store.saved(task.id, image_of(task.request, path="/elsewhere.png"))
    store.saved(task.id, image_of(task.request, seed=99))
    assert [image.path for image in store.entry(entry).tasks[0].images] == ["/out/7.png"]
    assert store.row(entry).images == 1


def test_an_engine_that_says_done_without_images_has_failed(store, request_of, make):
    store.add([request_of(count=3)])
    task = store.claim("me")
    make(task, 1)
    assert store.finish(task.id) == "failed"
    assert "2 of its images are missing" in store.row(1).error
    store.retry([1])
    assert store.claim("me").request.count == 2


def test_names_that_tell_the_number_stay_what_they_were(store, request_of, make):
    store.add([request_of(count=12, output=Output(path="/o/[index] of [count].png"))])
    task = store.claim("me")
    make(task, 2)
    store.requeue(task.id, because="")
    for number in range(3, 13):
        task = store.claim("me")
        assert (task.request.output.path, task.request.count) == (f"/o/{number:02d} of 12.png", 1)
        make(task)
        assert store.finish(task.id) == ("done" if number == 12 else "waiting")
    assert store.row(1).images == 12


def test_retry_leaves_alone_what_is_done_or_waits(store, request_of, make):
    entry = store.add([request_of("done"), request_of("failed"), request_of("waits")])
    make(task := store.claim("me"))
    store.finish(task.id)
    store.fail(store.claim("me").id, "out_of_memory", "too large")
    assert (store.row(entry).error, store.row(entry).finished) == ("too large", None)
    store.retry([entry])
    assert [task.state for task in store.entry(entry).tasks] == ["done", "waiting", "waiting"]
    assert store.row(entry).error is None


def test_a_skipped_image_is_left_out_by_every_process_until_its_entry_is_retried(store, opened, request_of, make):
    entry = store.add([request_of(count=3)])
    store.skip_image(1, 8)
    store.skip_image(1, 8)  # twice is once
    store.skip_image(1, 99)  # none of its images
    assert [store.is_skipped(1, seed) for seed in (7, 8, 99)] == [False, True, False]
    task = store.claim("me")
    assert (task.request.seed, task.request.count) == (7, 1)
    make(task)
    store.finish(task.id)
    another = opened().store
    task = another.claim("another")
    assert (task.request.seed, task.request.count) == (9, 1)
    make(task)
    another.finish(task.id)
    assert another.claim("another") is None and another.row(entry).state == "cancelled"
    store.retry([entry])
    assert store.claim("me").request.seed == 8


def test_a_task_whose_images_are_all_skipped_is_cancelled(store, request_of):
    entry = store.add([request_of()])
    store.skip_image(1, 7)
    assert store.claim("me") is None and store.row(entry).state == "cancelled"


def test_an_entry_is_over_when_all_of_it_is(store, request_of):
    entry = store.add([request_of(), request_of()])
    store.fail(store.claim("me").id, "failed", "x")
    assert store.row(entry).finished is None
    store.cancel([entry])
    finished = store.row(entry).finished
    assert finished is not None
    store.cancel([entry])
    assert store.row(entry).finished == finished
    store.retry([entry])
    assert store.row(entry).finished is None


def test_duplicates_make_the_same_unless_the_seed_was_drawn(store, request_of):
    fixed = store.add([request_of("fixed"), request_of("too", count=2)], title="name")
    drawn = store.add([request_of("drawn", seed=None), request_of("other", seed=None)])
    copies = store.duplicate([drawn, fixed])
    assert ids(store) == [fixed, drawn, *copies]
    same, again = (store.entry(copy) for copy in copies)
    assert [task.request for task in same.tasks] == [task.request for task in store.entry(fixed).tasks]
    assert (same.row.title, same.row.state, same.row.images_asked) == ("name", "waiting", 3)
    before = [task.request for task in store.entry(drawn).tasks]
    after = [task.request for task in again.tasks]
    assert [one.prompt for one in after] == ["drawn", "other"]
    assert {one.seed for one in before}.isdisjoint(one.seed for one in after)
    assert store.claim("me").request.seed == 7


def test_clearing_leaves_what_a_person_should_see(store, request_of, make):
    for prompt in ("done", "failed", "waits", "cancelled"):
        store.add([request_of(prompt)])
    make(task := store.claim("me"))
    store.finish(task.id)
    store.fail(store.claim("me").id, "failed", "x")
    store.cancel([4])
    assert store.clear_finished() == 2
    assert [row.title for row in store.rows()] == ["failed", "waits"]


def test_others_see_a_change_by_its_number(store, opened, request_of):
    other = opened().store
    seen, other_seen = store.version(), other.version()
    assert (store.version(), other.version()) == (seen, other_seen)
    store.add([request_of()])
    assert store.version() != seen
    assert other.version() != other_seen
    seen, other_seen = store.version(), other.version()
    task = other.claim("me")
    assert store.version() != seen
    assert other.version() != other_seen
    seen = store.version()
    other.cancel_task(task.id)
    assert store.version() != seen


def test_what_is_not_there_is_told(store, request_of):
    for ask in (lambda: store.row(5), lambda: store.entry(5), lambda: store.add([request_of()], before=5)):
        with pytest.raises(UsageError, match="no entry 5"):
            ask()
    with pytest.raises(UsageError, match="no entry 5"):
        store.move([1], before=5)
    with pytest.raises(UsageError, match="at least one"):
        store.add([])
    assert store.count() == 0
    store.cancel([5]), store.retry([5]), store.remove([5]), store.cancel_task(5)
    assert store.duplicate([5]) == ()


def test_any_text_is_kept(store, image_of):
    odd = "a\0b\ud800\U0001f600 'quoted\" \n"
    request = GenerateRequest(prompt=odd, seed=1, output=Output(path="/o/\udcff[seed].png"))
    entry = store.add([request], title=odd)
    task = store.claim("me\0")
    assert task.request == request
    store.saved(task.id, image_of(request, path="/o/\udcff1.png"))
    store.fail(task.id, "failed", odd)
    found = store.entry(entry)
    assert found.tasks[0].images[0].path == found.row.first_image == "/o/\udcff1.png"
    found.row.title.encode(), found.row.error.encode()


def test_claims_of_several_processes_never_meet(path, opened, request_of):
    """Threads with connections of their own are to SQLite what processes are."""
    opened().store.add([request_of(str(number)) for number in range(60)])
    gate = threading.Barrier(4)

    def work():
        with JobStore.open(path).store as mine:
            gate.wait()
            claimed = []
            while (task := mine.claim("x")) is not None:
                claimed.append(task.id)
            return claimed

    with ThreadPoolExecutor(4) as pool:
        claimed = [one.result() for one in [pool.submit(work) for _ in range(4)]]
    assert sorted(itertools.chain(*claimed)) == list(range(1, 61))


def test_after_a_failed_write_the_queue_can_be_used(store, request_of, monkeypatch):
    entry = store.add([request_of()])
    with sqlite3.connect(store._database.path, isolation_level=None) as other:
        store._database.connection.execute("PRAGMA busy_timeout = 1")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another program has been writing to it"):
            store.claim("me")
        assert store.row(entry).state == "waiting"  # and may be read meanwhile
        other.execute("ROLLBACK")
    assert store.claim("me") is not None


def test_it_takes_nothing_heavy_to_import():
    code = (
        "import sys, mezzotint.jobs.store\n"
        "heavy = {'torch', 'numpy', 'PIL', 'diffusers', 'rich', 'mezzotint.engine', 'mezzotint.images.reading'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_an_opened_queue_says_nothing_when_all_is_well(opened):
    assert isinstance(opened(), Opened)
    assert opened().notice is None


def test_a_task_counts_under_the_size_that_the_process_which_makes_it_finds(path, request_of):
    with JobStore.open(path).store as window:
        window.add([request_of()])
    with JobStore.open(path, size_of=lambda _: (640, 480)).store as engine:
        task = engine.claim("me")
        engine.finish(task.id, PhaseSeconds(load=1, encode=1, step=1, decode=1, save=1, steps=10))
        sizes = engine._database.rows("SELECT width, height FROM run_keys WHERE id IN (SELECT key FROM timings)")
    assert sizes == [(640, 480)]
