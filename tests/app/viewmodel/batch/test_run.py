"""A run followed from its process to what is shown, with a real process that says what the test wants."""

import sys
from pathlib import Path

import pytest
from batch_window import Works

from mezzotint_app.processes.batch_process import BatchProcess

pytestmark = pytest.mark.requires_package("PySide6")

CHILD = (sys.executable, str(Path(__file__).parents[3] / "plugins" / "batch_child.py"))


@pytest.fixture
def works(tmp_path, inline):
    made = Works(tmp_path, inline)
    made.batches._base = CHILD
    made.batches._make = BatchProcess
    yield made
    made.batches.finish(5000)


def begin(works, title):
    identity = works.add(title)
    job = Path(works.batches.get(identity).known.job)
    job.write_text(f'title = "{title}"')
    works.rows = []
    works.batches.settled.connect(lambda _batch, row: works.rows.append(row))
    works.lender.let()
    return identity


def rests(works, identity):
    return lambda: works.stage(identity) == "resting"


def test_to_the_end(qtbot, works):
    identity = begin(works, "fine")
    qtbot.waitUntil(rests(works, identity))
    batch = works.batches.get(identity)
    assert (batch.problem, batch.progress.done, len(works.rows)) == ("", 4, 4)
    assert works.lender.taken_back == 1 and works.librarian.open("batch_status")


def test_failures_are_tried_again(qtbot, works):
    identity = begin(works, "failures")
    qtbot.waitUntil(rests(works, identity))
    assert works.batches.get(identity).problem == ""
    assert [row.status for row in works.rows] == ["failed", "failed", "done", "done"]
    works.rows.clear()
    works.batches.resume(identity, retry_failed=True)
    works.lender.let()
    qtbot.waitUntil(rests(works, identity))
    assert {row.status for row in works.rows} == {"done"}


def test_a_stop_is_no_problem(qtbot, works):
    identity = begin(works, "slow")
    qtbot.waitUntil(lambda: bool(works.rows))
    works.batches.stop(identity)
    qtbot.waitUntil(rests(works, identity))
    assert works.batches.get(identity).problem == ""


@pytest.mark.parametrize(
    ("title", "words"), [("refused", "process 7 on host works there"), ("crash", "The batch crashed")]
)
def test_trouble_is_told_in_words_with_the_log(qtbot, works, title, words):
    identity = begin(works, title)
    qtbot.waitUntil(rests(works, identity))
    assert words in works.batches.get(identity).problem
    assert "talk for people" in works.batches.log(identity)
