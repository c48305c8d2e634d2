"""That the queue is paused is told where Generate is."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from queue_made import OWNER, queue_in, request

from mezzotint.jobs.store import JobStore
from mezzotint_app.processes.service import Failure
from mezzotint_app.windows.queue.paused_notice import PausedNotice


@pytest.fixture
def made(tmp_path, qapp):
    return queue_in(tmp_path)


@pytest.fixture
def notice(made, qtbot):
    shown = PausedNotice(made.queue)
    qtbot.addWidget(shown)
    return shown


def test_it_is_there_while_the_queue_is_paused_and_no_longer(made, notice):
    assert notice.isHidden()
    made.change(JobStore.pause)
    assert not notice.isHidden()
    made.change(JobStore.resume)
    assert notice.isHidden()


def test_resume_resumes(made, notice):
    made.change(JobStore.pause)
    QTest.mouseClick(notice.resume, Qt.MouseButton.LeftButton)
    assert made.runner.done == ["resume"]


def test_it_tells_why_and_forgets_it(made, notice):
    made.change(lambda store: store.add([request()]))
    task = made.change(lambda store: store.claim(OWNER))
    made.runner.begin(task)
    made.change(JobStore.pause)
    made.runner.end(failure=Failure(kind="storage", message="free some space: /images needs 2 GB."))
    assert "/images needs 2 GB" in notice.text()
    made.change(JobStore.resume)
    made.change(JobStore.pause)
    assert "/images" not in notice.text()
