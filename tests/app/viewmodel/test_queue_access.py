"""The store is opened, asked and closed on its thread; what changes it is told."""

from mezzotint.jobs.store import JobStore
from mezzotint.protocol import GenerateRequest
from mezzotint_app.background import Background
from mezzotint_app.viewmodel.queue_access import QueueAccess


def test_a_change_is_told_after_it_was_made(qtbot, tmp_path):
    background = Background()
    access = QueueAccess(background, lambda: JobStore.open(tmp_path / "queue.sqlite"))
    with qtbot.waitSignal(access.opened) as opened:
        access.open()
    assert opened.args == [None]
    with qtbot.waitSignal(access.changed):
        access.change(lambda store: store.add([GenerateRequest(prompt="a")]))
    counts = []
    access.ask(lambda store: store.count(), counts.append)
    qtbot.waitUntil(lambda: bool(counts))
    assert counts == [1]
    access.close()
    assert background.finish()


def test_a_store_that_cannot_be_opened_is_told(qtbot, inline, tmp_path):
    (tmp_path / "file").write_text("")
    access = QueueAccess(inline, lambda: JobStore.open(tmp_path / "file" / "queue.sqlite"))
    with qtbot.waitSignal(access.unusable) as told:
        access.open()
    assert str(tmp_path) in told.args[0]


def test_a_question_that_fails_is_told_to_who_asked(qtbot, inline, tmp_path):
    access = QueueAccess(inline, lambda: JobStore.open(tmp_path / "queue.sqlite"))
    failed = []
    access.ask(lambda store: store.count(), failed=failed.append)
    assert "before it was opened" in str(failed[0])
    access.open()
    with qtbot.assertNotEmitted(access.changed):
        access.change(lambda store: 1 // 0, failed=failed.append)
    assert isinstance(failed[1], ZeroDivisionError)
    access.close()
