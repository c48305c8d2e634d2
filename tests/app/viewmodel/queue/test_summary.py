"""The queue in one line."""

import errno

import pytest
from PySide6.QtCore import QCoreApplication
from queue_made import OWNER, finish, image, queue_in, request

from mezzotint.protocol import Saved, Step
from mezzotint.trouble import storage_error
from mezzotint_app.processes.service import Failure

NO_SPACE = str(storage_error("write", "x.png", OSError(errno.ENOSPC, "")))


@pytest.fixture
def made(tmp_path, qapp):
    one = queue_in(tmp_path)
    yield one
    one.access.close()


def text(made):
    QCoreApplication.processEvents()
    return made.queue.summary.text()


def begin(made):
    task = made.change(lambda store: store.claim(OWNER))
    made.runner.begin(task)
    return task


def step(number, count):
    return Step(image=0, images=count, stage=0, stages=1, step=number, steps=10, sigma=1.0, preview=None)


def test_an_entry_of_several_tasks_is_counted_as_a_whole(made):
    made.change(lambda store: store.add([request("a hare", 5), request("a boat", 5), request("a barn", 5)]))
    made.change(finish)
    task = begin(made)
    made.runner.progressed.emit(task, step(3, 5))
    assert "6" in made.queue.running.words() and "15" in made.queue.running.words()
    made.runner.progressed.emit(task, Saved(image=image(task), images=5))
    made.change(lambda store: store.saved(task.id, image(task)))
    counted = made.queue.running.words()
    assert "6" in counted and "15" in counted and text(made).startswith("6 of 15")


def test_nothing(made):
    assert text(made) == "Queue empty"
    assert not made.queue.summary.work_left()


def test_waiting_and_paused(made):
    made.change(lambda store: store.add([request()]))
    assert text(made) == "1 job waiting"
    made.change(lambda store: store.add([request()]))
    made.change(lambda store: store.pause())
    assert text(made) == "Paused; 2 jobs waiting"
    made.runner.trouble = "the disk is full: free some space."
    assert text(made) == "Blocked: the disk is full: free some space, 2 jobs waiting"
    assert not made.queue.summary.work_left()  # it is paused, and stays so
    made.change(lambda store: store.resume())
    assert made.queue.summary.work_left()


def test_a_full_disk_is_the_reason_until_it_goes_on(made):
    made.change(lambda store: store.add([request()]))
    task = begin(made)
    made.change(lambda store: store.requeue(task.id, because="full"))
    made.change(lambda store: store.pause())
    made.runner.end(failure=Failure(kind="storage", message=NO_SPACE))
    assert text(made) == f"Paused: {NO_SPACE}; 1 job waiting"
    made.change(lambda store: store.resume())
    made.change(lambda store: store.pause())
    assert text(made) == "Paused; 1 job waiting"


def test_working_without_and_with_earlier_runs(made):
    made.change(lambda store: store.add([request("a", 3)]))
    made.change(lambda store: store.add([request("b", 2)]))
    begin(made)
    assert text(made) == "0 of 3 images; then 1 job"
    assert made.queue.summary.work_left()


def test_the_time_left_is_staged(made):
    made.change(lambda store: store.add([request("learn")]))
    made.change(finish)  # load 8, encode 1, an image 10 * 0.5 + 2 + 1
    made.change(lambda store: store.add([request("a", 12)]))
    made.change(lambda store: store.add([request("b", 6)]))
    task = begin(made)
    running = made.queue.running
    assert running.entry_seconds_left() == pytest.approx(8 + 1 + 12 * 8)
    assert running.queue_seconds_left() == pytest.approx(8 + 2 + 18 * 8)
    made.runner.progressed.emit(task, step(5, 12))
    assert running.entry_seconds_left() == pytest.approx(12 * 8 - 2.5)
    assert text(made) == "0 of 12 images, about 2 min left; then 1 job, about 2 min left in total"
    made.runner.progressed.emit(task, Saved(image=image(task), images=12))
    made.change(lambda store: store.saved(task.id, image(task)))
    assert running.entry_seconds_left() == pytest.approx(11 * 8)
    assert running.queue_seconds_left() == pytest.approx(11 * 8 + 1 + 6 * 8)
    assert made.queue.summary.fraction() == pytest.approx(1 / 12)
    assert text(made).startswith("1 of 12 images, about 88 s left")


def test_stopping_is_told(made):
    made.change(lambda store: store.add([request()]))
    begin(made)
    made.change(lambda store: store.stop_after_current(True))
    assert text(made).endswith(". Pauses after this job")
    made.change(lambda store: store.stop_after_current(False))
    made.change(lambda store: store.pause())
    assert text(made).endswith(". Pausing")


def test_who_else_works_is_told(made):
    made.change(lambda store: store.add([request()]))
    made.runner.state, made.runner.who = "elsewhere", "mezzotint queue run (process 12)"
    assert text(made) == "mezzotint queue run (process 12) is processing this queue, 1 job waiting"
    assert not made.queue.summary.work_left()


def test_a_batch_has_its_turn_and_what_waits_is_still_to_be_made(made):
    made.change(lambda store: store.add([request()]))
    made.runner.state, made.runner.who, made.runner.lent = "elsewhere", "A batch", True
    assert text(made) == "A batch is running; the queue continues after it, 1 job waiting"
    assert made.queue.summary.work_left()
    made.change(lambda store: store.pause())
    assert not made.queue.summary.work_left()


def test_how_far_another_program_is(made):
    made.runner.state, made.runner.who = "elsewhere", "mezzotint queue run"
    made.change(lambda store: store.add([request("learn")]))
    made.change(finish)
    made.change(lambda store: store.add([request("a", 4)]))
    made.change(lambda store: store.add([request("b", 2)]))
    task = made.change(lambda store: store.claim("another"))
    made.change(lambda store: store.saved(task.id, image(task)))
    told = text(made)
    assert told.startswith("mezzotint queue run is processing this queue: 1 of 4 images, 1 job waiting, ")
    assert told.endswith(" left")
    assert made.queue.summary.fraction() == pytest.approx(1 / 4)


def test_entries_that_need_a_look(made):
    made.change(lambda store: store.add([request()]))
    task = begin(made)
    made.change(lambda store: store.fail(task.id, "storage", "full"))
    made.runner.end()
    assert text(made) == "Queue empty; 1 job needs attention"


def test_a_queue_that_cannot_be_opened_is_no_empty_one(made):
    made.access.unusable.emit("it is from a newer Mezzotint.")
    assert text(made) == "Blocked: it is from a newer Mezzotint"
    made.access.opened.emit(None)
    assert text(made) == "Queue empty"
