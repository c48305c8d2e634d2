"""What is asked after a crash."""

import pytest
from queue_made import OWNER, image, queue_in, request

from mezzotint.jobs.store import JobStore


def crashed(folder, *, tasks=1, count=3, waiting=1):
    """A queue whose program ended while it worked."""
    with JobStore.open(folder / "queue.sqlite").store as store:
        for _ in range(tasks + waiting):
            store.add([request("a hare", count)])
        for _ in range(tasks):
            task = store.claim(OWNER)
            store.saved(task.id, image(task))


@pytest.fixture
def made(tmp_path, qapp):
    def make(**options):
        crashed(tmp_path, **options)
        one = queue_in(tmp_path)
        one.change(lambda store: store.recover(lambda _owner: False))
        return one

    return make


def states(one):
    return [row.state for row in one.store.rows()]


def test_nothing_is_asked_where_nothing_was_interrupted(tmp_path, qapp):
    one = queue_in(tmp_path)
    assert one.queue.interrupted.text() == ""


def test_it_is_asked_what_is_to_become_of_it_and_the_queue_is_paused(made):
    one = made()
    assert one.queue.interrupted.text() == (
        "Mezzotint stopped while it was generating: 2 images still missing. Finished images are kept."
    )
    assert one.store.paused()


def test_resume_goes_on_with_it_and_with_the_queue(made):
    one = made()
    one.queue.interrupted.resume()
    assert states(one) == ["waiting", "waiting"]
    assert not one.store.paused()
    assert one.queue.interrupted.text() == ""


def test_keep_paused_changes_nothing_and_is_not_asked_again(made):
    one = made()
    one.queue.interrupted.keep_paused()
    one.change(lambda store: store.add([request()]))
    assert one.queue.interrupted.text() == ""
    assert states(one)[0] == "interrupted"
    assert one.store.paused()


def test_discard_cancels_it_alone(made):
    one = made()
    one.queue.interrupted.discard()
    assert states(one) == ["cancelled", "waiting"]
    assert one.store.paused()


def test_a_queue_with_nothing_left_is_not_kept_paused(made):
    one = made(waiting=0)
    one.queue.interrupted.discard()
    assert not one.store.paused()


def test_another_crash_is_asked_about_again(made):
    one = made(tasks=1)
    one.queue.interrupted.keep_paused()
    one.change(lambda store: store.resume())
    one.change(lambda store: store.claim(OWNER))
    one.change(lambda store: store.recover(lambda _owner: False))
    assert "3 images" in one.queue.interrupted.text()
