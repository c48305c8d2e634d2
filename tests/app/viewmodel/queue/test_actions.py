"""Every action of the queue, on a real store."""

import pytest
from PySide6.QtCore import QCoreApplication
from queue_made import OWNER, finish, image, queue_in, request

from mezzotint_app.viewmodel.queue.actions import can_cancel, can_retry


@pytest.fixture
def made(tmp_path, qapp):
    one = queue_in(tmp_path)
    one.told, one.failed = [], []
    one.queue.actions.message.connect(one.told.append)
    one.queue.actions.failed.connect(one.failed.append)
    yield one
    one.access.close()


def add(made, count=1, **options):
    return made.change(lambda store: [store.add([request(f"{number}")], **options) for number in range(count)])


def states(made):
    return [row.state for row in made.store.rows()]


def test_cancel_and_retry(made):
    ids = add(made, 2)
    made.queue.actions.cancel(ids[:1])
    assert states(made) == ["cancelled", "waiting"]
    made.queue.actions.retry(ids)
    assert states(made) == ["waiting", "waiting"]
    assert made.told == ["Cancelled: 1 job", "Queued again: 2 jobs"]


def test_what_runs_is_marked_to_be_stopped(made):
    ids = add(made)
    task = made.change(lambda store: store.claim(OWNER))
    made.queue.actions.cancel(ids)
    assert made.store.is_cancel_requested(task.id)


def test_duplicate_remove_and_clear(made):
    ids = add(made, 2)
    made.queue.actions.duplicate(ids[:1])
    assert len(made.ids()) == 3
    made.queue.actions.remove(ids[1:])
    assert ids[1] not in made.ids()
    made.change(finish)
    made.queue.actions.clear_finished()
    assert len(made.ids()) == 1
    assert made.told[-1] == "Removed from the list: 1 job; images are kept"


def test_removing_what_runs_says_that_it_is_being_stopped(made):
    ids = add(made)
    made.change(lambda store: store.claim(OWNER))
    made.queue.actions.remove(ids)
    assert made.ids() == ids
    assert "being stopped" in made.told[-1]


def test_the_front_is_before_all_that_is_still_to_be_made(made):
    ids = add(made, 4)
    made.change(finish)
    made.queue.actions.to_front([ids[3]])
    assert made.change(lambda store: store.claim(OWNER)).entry == ids[3]
    made.queue.actions.to_front(made.ids())
    assert made.failed == []


def test_pause_and_resume_are_the_runners(made):
    actions = made.queue.actions
    actions.pause_or_resume()
    assert made.runner.done == ["pause"]
    made.change(lambda store: store.pause())
    assert actions.is_paused()
    actions.pause_or_resume()
    actions.pause_after_current()
    assert made.runner.done == ["pause", "resume", "pause_after_current"]
    made.change(lambda store: store.stop_after_current(True))
    assert actions.stops_after_current()


def test_edit_again_gives_the_request_with_its_seed(made):
    (entry,) = made.change(lambda store: [store.add([request("a hare", seed=77)])])
    found = []
    made.queue.actions.edit_again.connect(found.append)
    made.queue.actions.edit(entry)
    assert (found[0].prompt, found[0].seed) == ("a hare", 77)


def test_the_folder_is_that_of_its_images(made, tmp_path):
    (entry,) = add(made)
    made.queue.actions.show_folder(entry)
    assert "no images yet" in made.failed[-1]
    opened = []
    made.queue.actions.open_folder.connect(opened.append)
    task = made.change(lambda store: store.claim(OWNER))
    made.change(lambda store: store.saved(task.id, image(task)))
    made.queue.actions.show_folder(entry)
    assert opened == ["/images"]


def test_an_entry_that_is_gone_is_told(made):
    made.queue.actions.edit(99)
    assert made.failed == ["the queue has no entry 99: it may have been removed"]


def test_what_can_be_done_depends_on_the_state(made):
    add(made, 3)
    made.change(finish)
    task = made.change(lambda store: store.claim(OWNER))
    made.change(lambda store: store.fail(task.id, "storage", "full"))
    done, failed, waiting = made.store.rows()
    assert [can_cancel([row]) for row in (done, failed, waiting)] == [False, False, True]
    assert [can_retry([row]) for row in (done, failed, waiting)] == [False, True, False]


def test_trouble_of_the_store_is_told(made):
    add(made)
    made.store.close()
    QCoreApplication.processEvents()
    made.queue.actions.cancel([1])
    assert made.failed
