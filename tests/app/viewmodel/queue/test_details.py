"""One entry closely."""

import pytest
from model_checked import checked
from queue_made import OWNER, image, queue_in, request


@pytest.fixture
def made(tmp_path, qapp):
    one = queue_in(tmp_path)
    yield one
    one.access.close()


def test_tasks_with_their_images_and_errors(made):
    entry = made.change(lambda store: store.add([request("a", 2), request("b"), request("c")]))
    details = made.queue.details
    with checked(details.tasks), checked(details.images):
        details.set_current(entry)
        assert details.tasks.rowCount() == 3
        task = made.change(lambda store: store.claim(OWNER))
        made.change(lambda store: store.saved(task.id, image(task, 0)))
        made.change(lambda store: store.saved(task.id, image(task, 1)))
        made.change(lambda store: store.finish(task.id))
        task = made.change(lambda store: store.claim(OWNER))
        made.change(lambda store: store.fail(task.id, "out_of_memory", "needed 7.9 GB, 6.0 were free"))
    lines = [details.tasks.index(row).data() for row in range(3)]
    assert lines[0].startswith("1. Done · Seed 5 · 2 of 2 images")
    assert lines[1].split("\n")[1] == "needed 7.9 GB, 6.0 were free"
    assert "smaller size" in lines[1].split("\n")[2]
    assert "\n" not in lines[2]
    assert len(details.images.paths()) == 2
    assert "smaller size" in details.advice()


def test_set_aside_is_explained(made):
    entry = made.change(lambda store: store.add([request()]))
    for _ in range(2):
        task = made.change(lambda store: store.claim(OWNER))
        made.change(lambda store, task=task: store.on_engine_death(task.id, because="it ended"))
    made.queue.details.set_current(entry)
    assert made.queue.details.entry().row.state == "set_aside"
    assert "Try a smaller size" in made.queue.details.advice()


def test_an_entry_that_is_removed_is_no_longer_shown_and_no_trouble(made):
    entry = made.change(lambda store: store.add([request()]))
    failed = []
    made.queue.details.failed.connect(failed.append)
    made.queue.details.set_current(entry)
    made.change(lambda store: store.remove([entry]))
    assert made.queue.details.entry() is None
    assert made.queue.details.tasks.rowCount() == 0
    assert failed == []


def test_an_answer_about_another_entry_is_dropped(made):
    first, second = made.change(lambda store: [store.add([request("a")]), store.add([request("b")])])
    made.inline.held = True
    made.queue.details.set_current(first)
    made.queue.details.set_current(second)
    shown = []
    made.queue.details.changed.connect(lambda: shown.append(made.queue.details.entry().row.id))
    made.inline.go()
    assert shown == [second]


def test_images_in_sight_have_thumbnails(made):
    entry = made.change(lambda store: store.add([request("a", 3)]))
    task = made.change(lambda store: store.claim(OWNER))
    for index in range(3):
        made.change(lambda store, index=index: store.saved(task.id, image(task, index)))
    made.queue.details.set_current(entry)
    made.queue.details.images.show_rows(1, 2, 128)
    assert [one.params.path for one in made.librarian.open("thumbnail")] == [
        image(task, 1).path,
        image(task, 2).path,
    ]


def test_one_question_is_under_way_however_many_are_looked_at(made):
    entries = made.change(lambda store: [store.add([request(str(number))]) for number in range(6)])
    made.inline.held = True
    for entry in entries:
        made.queue.details.set_current(entry)
    assert len(made.inline.waiting) == 1
    made.inline.go()
    assert made.queue.details.entry().row.id == entries[-1]
    made.inline.held = False
    made.queue.details.set_current(None)
    made.queue.details.set_current(entries[0])
    assert made.queue.details.entry().row.id == entries[0]
