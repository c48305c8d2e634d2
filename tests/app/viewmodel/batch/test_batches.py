"""Batches run one at a time, in order, when the queue lets them, and are known again after a restart."""

from pathlib import Path
from typing import Any

import pytest
from batch_window import Works, failed_row, progress, status, step, task_row
from fake_service import InlineBackground
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch_protocol import BatchError, BatchNotice, BatchOwner, BatchTaskPage
from mezzotint_app.stored import read, write
from mezzotint_app.viewmodel.batch.state import BatchesState

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def works(tmp_path, inline):
    return Works(tmp_path, inline)


def test_the_whole_way(works):
    ended, settled = [], []
    works.batches.ended.connect(ended.append)
    works.batches.settled.connect(lambda batch, row: settled.append((batch, row.output)))
    identity = works.add()
    asked = works.librarian.last("batch_write").params
    assert asked.overwrite and Path(asked.path).parent == works.folder / "jobs" and asked.job["title"] == "Holiday"
    assert works.stage(identity) == "waiting" and works.processes == []
    works.lender.let()
    run = works.processes[0]
    assert run.words == ("mezzotint", "run", asked.path, "--jsonl", "--stop-with-input") and run.done == ["start"]
    assert works.stage(identity) == "running"
    run.event_received.emit(progress(1, total=4))
    run.event_received.emit(step())
    run.event_received.emit(task_row())
    batch = works.batches.get(identity)
    assert batch.progress.total == 4 and settled == [(identity, "0.png")]
    run.end()
    assert works.stage(identity) == "resting" and ended == [identity] and works.lender.taken_back == 1
    works.librarian.answer(status(done=4, total=4, is_ended=True), method="batch_status")
    assert works.batches.get(identity).status.done == 4 and not works.batches.work_left()


def test_others_wait_in_order_and_the_turn_is_kept_between_them(works):
    first, run = works.run("one")
    second, third = works.add("two"), works.add("three")
    assert [works.stage(one) for one in (first, second, third)] == ["running", "waiting", "waiting"]
    assert works.batches.words_of_waiting(second) == "Waiting for the previous batch."
    run.end()
    assert works.stage(second) == "running" and works.lender.taken_back == 0
    works.processes[-1].end()
    works.processes[-1].end()
    assert [works.stage(one) for one in (first, second, third)] == ["resting"] * 3
    assert works.lender.taken_back == 1 and len(works.processes) == 3


def test_why_it_waits_is_said(works):
    identity = works.add()
    works.lender.state = "working"
    assert "for the queue to finish" in works.batches.words_of_waiting(identity)
    works.lender.state, works.lender.who = "elsewhere", "mezzotint queue run (process 7)"
    assert "process 7" in works.batches.words_of_waiting(identity)
    works.lender.state, works.lender.who, works.models.now = "idle", "", "starting"
    assert "engine to start" in works.batches.words_of_waiting(identity)


def test_what_waits_is_stopped_before_it_begins_and_the_queue_goes_on(works):
    identity = works.add()
    works.batches.stop(identity)
    assert works.stage(identity) == "resting" and works.lender.then is None and works.lender.taken_back == 1


def test_while_it_runs_its_folder_is_not_taken_for_another_programs(works):
    identity, run = works.run()
    works.batches.refresh_all()
    owner = BatchOwner(pid=7, host="here", since=0.0)
    works.librarian.answer(status(done=1, running=(owner,)), method="batch_status")
    assert works.batches.get(identity).status is None
    run.end(130)
    assert works.batches.is_asking(identity)
    works.librarian.answer(status(done=2), method="batch_status")
    assert works.batches.get(identity).status.done == 2 and not works.batches.is_asking(identity)


def test_stopping_and_going_on_with_what_failed(works):
    identity, run = works.run()
    works.batches.stop(identity)
    assert run.done == ["start", "stop"] and works.stage(identity) == "stopping"
    works.batches.stop(identity, now=True)
    assert run.done[-1] == "stop_now"
    run.end(130)
    assert works.batches.get(identity).problem == ""
    works.batches.resume(identity, retry_failed=True)
    works.batches.resume(identity)  # it waits already
    works.lender.let()
    assert works.processes[-1].words[-1] == "--retry-failed" and len(works.processes) == 2


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"code": 0}, ""),
        ({"code": 3}, ""),
        ({"code": 9, "kind": "crashed"}, "ran out of memory"),
        ({"code": 11, "kind": "crashed"}, "crashed"),
        ({"code": 0, "kind": "not_started"}, "could not be started"),
        ({"code": 1}, "exited with code 1"),
        ({"code": 130}, "terminated by another program"),
    ],
)
def test_how_it_ended_is_told_in_plain_words_and_it_can_be_gone_on_with(works, end, words):
    identity, run = works.run()
    run.end(**end)
    assert words in works.batches.get(identity).problem and bool(words) == bool(works.batches.get(identity).problem)
    works.batches.resume(identity)
    assert works.stage(identity) == "waiting" and works.batches.get(identity).problem == ""


def test_its_own_words_about_its_end_are_told(works):
    identity, run = works.run()
    run.lines = ("a line",)
    run.event_received.emit(BatchError(kind="busy", message="process 7 on host works there", exit_code=8))
    run.end(8)
    assert works.batches.get(identity).problem == "process 7 on host works there"
    assert works.batches.log(identity) == ("a line",)


def test_why_nothing_is_made_for_a_while_is_told_until_something_is(works):
    identity, run = works.run()
    run.event_received.emit(BatchNotice(code="paused", message="the disk is full"))
    assert works.batches.get(identity).notice == "the disk is full"
    run.event_received.emit(step())
    assert works.batches.get(identity).notice == ""
    run.silence_changed.emit(True)
    assert works.batches.get(identity).silent


def test_one_folder_is_one_batch(works):
    identity, run = works.run()
    refused = []
    works.batches.refused.connect(refused.append)
    assert works.add() is None and "stop it first" in refused[0]
    run.end()
    works.add()
    assert [one.known.id for one in works.batches.all()] == [identity] and works.stage(identity) == "waiting"


def test_a_job_that_cannot_be_kept_begins_nothing(works):
    refused = []
    works.batches.refused.connect(refused.append)
    works.batches.add({"version": 1}, "x", "/out/x")
    works.librarian.fail("usage", "there is nothing to generate", method="batch_write")
    assert refused == ["there is nothing to generate"] and works.batches.all() == () and works.lender.then is None


def test_after_a_restart_they_are_listed_with_what_their_folders_say(works, tmp_path, inline):
    identity, run = works.run()
    run.end(130)
    works.state.save()
    state, notice = read(BatchesState, tmp_path / "batches.json")
    assert notice is None
    later = Works(tmp_path, inline, state)
    assert [one.known.title for one in later.batches.all()] == ["Holiday"] and later.stage(identity) == "resting"
    later.batches.refresh_all()
    later.batches.refresh_all()
    assert len(later.librarian.open("batch_status")) == 1
    later.librarian.fail("not_running", "the librarian has not started yet", method="batch_status")
    assert len(later.librarian.open("batch_status")) == 1  # once more, since it was asked meanwhile
    later.librarian.answer(status(done=1204, total=3000, failed=2), method="batch_status")
    assert later.librarian.open("batch_status") == []
    assert later.batches.get(identity).failed == 2
    later.batches.refresh(identity)
    later.librarian.fail("storage", "no manifest", method="batch_status")
    assert (later.batches.get(identity).status, later.batches.get(identity).unknown) == (None, "")
    later.batches.resume(identity)
    later.lender.let()
    assert later.processes[0].words[2] == str(tmp_path / "jobs" / f"{identity}.toml")


def test_what_failed_is_asked_for_by_name_once_it_has_ended(works):
    identity, run = works.run()
    run.end(3)
    works.librarian.answer(status(done=3, failed=1, total=4, is_ended=True), method="batch_status")
    asked = works.librarian.last("batch_tasks").params
    assert (asked.folder, asked.which, asked.newest_first) == (str(works.folder / "out" / "Holiday"), "failed", True)
    works.librarian.answer(BatchTaskPage(total=1, rows=(failed_row(),)), method="batch_tasks")
    assert works.batches.get(identity).failures == (failed_row(),)
    works.batches.resume(identity, retry_failed=True)
    works.lender.let()
    works.processes[-1].end()
    works.librarian.answer(status(done=4, total=4, is_ended=True), method="batch_status")
    assert works.batches.get(identity).failures == ()


def test_taking_it_off_the_list_touches_no_image(works):
    identity, run = works.run()
    image = works.folder / "out" / "Holiday" / "a.png"
    write(image, {})
    job = works.folder / "jobs" / f"{identity}.toml"
    job.write_text("")
    works.batches.remove(identity)
    assert works.batches.get(identity) is not None  # it runs
    run.end()
    works.batches.remove(identity)
    assert works.batches.all() == () and works.state.value().batches == ()
    assert image.exists() and not job.exists()
    assert works.librarian.methods().count("batch_status") == 1


def test_at_the_windows_end_it_stops_after_the_image_or_at_once_and_nothing_begins(works):
    identity, run = works.run()
    waiting = works.add("two")
    gone = []
    works.batches.shut_down(lambda: gone.append(True))
    assert run.done == ["start", "stop"] and gone == []
    works.clock.advance(20)
    assert run.done[-1] == "stop_now"
    run.end(130)
    assert gone == [True] and len(works.processes) == 1
    works.batches.resume(waiting)
    assert works.stage(identity) == works.stage(waiting) == "resting" and len(works.processes) == 1


def test_with_nothing_running_the_window_goes_at_once(works):
    gone = []
    works.batches.shut_down(lambda: gone.append(True))
    assert gone == [True]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "let", "stop", "now", "end", "crash", "resume", "remove", "tell"]), st.integers(0, 2)
    ),
    max_size=40,
)


@given(STEPS)
def test_whatever_happens_at_most_one_runs_and_the_turn_is_given_back(tmp_path_factory, steps):
    works = Works(tmp_path_factory.mktemp("batches"), InlineBackground())
    ids: dict[int, str] = {}
    running: list[Any] = []
    for what, number in steps:
        identity = ids.get(number, "")
        if what == "add":
            ids[number] = works.add(f"batch {number}") or identity
        elif what == "let" and works.lender.then is not None:
            works.lender.let()
        elif what in ("stop", "now"):
            works.batches.stop(identity, now=what == "now")
        elif what in ("end", "crash") and running:
            running[0].end(*((0, "ended") if what == "end" else (6, "crashed")))
        elif what == "resume":
            works.batches.resume(identity)
        elif what == "remove":
            works.batches.remove(identity)
        elif what == "tell" and running:
            running[0].event_received.emit(failed_row())
        alive = {one.known.id for one in works.batches.all() if one.stage in ("running", "stopping")}
        running = [works.batches._run._process] if works.batches._run is not None else []
        assert len(alive) <= 1 and len(running) == len(alive)
        waits = any(one.stage == "waiting" for one in works.batches.all())
        assert works.batches.work_left() == bool(alive or waits)
        if not works.batches.work_left():
            assert works.lender.then is None and not works.turn.is_acquired()
