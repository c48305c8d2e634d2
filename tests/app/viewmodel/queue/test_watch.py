"""When the queue is looked at again."""

from queue_made import queue_in, request


def test_a_change_is_told_once_and_no_change_is_not(tmp_path, qapp):
    made = queue_in(tmp_path)
    told = []
    made.queue.watch.changed.connect(lambda: told.append(1))
    made.queue.watch.look()
    assert told == []
    made.change(lambda store: store.add([request()]))
    assert told == [1]
    made.access.close()


def test_many_changes_are_one_question_at_a_time(tmp_path, qapp):
    made = queue_in(tmp_path)
    made.inline.held = True
    for _ in range(50):
        made.queue.watch.look()
    assert len(made.inline.waiting) == 1
    made.inline.go()
    made.inline.held = False
    made.access.close()


def test_trouble_is_told_and_the_next_look_is_made(tmp_path, qapp, monkeypatch):
    made = queue_in(tmp_path)
    failed = []
    made.queue.watch.failed.connect(failed.append)
    with monkeypatch.context() as broken:
        broken.setattr(made.access, "_store", None)
        made.queue.watch.look()
    assert len(failed) == 1
    made.queue.watch.look()
    assert len(failed) == 1
    made.access.close()
