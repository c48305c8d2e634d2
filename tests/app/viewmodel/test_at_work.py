"""The machine is kept awake for the queue, and for a batch."""

import pytest
from batch_window import Works

from mezzotint_app.viewmodel.at_work import AtWork

pytestmark = pytest.mark.requires_package("PySide6")


def test_either_is_work(tmp_path, inline):
    works = Works(tmp_path, inline)
    at_work = AtWork(works.lender, works.batches)
    states = []
    at_work.changed.connect(lambda: states.append(at_work.state))
    works.lender.state = "paused"
    works.lender.changed.emit()
    _, run = works.run()
    works.lender.state = "elsewhere"
    works.lender.changed.emit()
    assert states[0] == "paused" and states[-1] == "working"
    run.end()
    assert at_work.state == "elsewhere" and states[-1] == "elsewhere"
