"""The machine is kept awake for the queue, and for a batch."""

import pytest
from batch_window import Works

from mezzotint_app.viewmodel.activity_state import ActivityState

pytestmark = pytest.mark.requires_package("PySide6")


def test_either_is_work(tmp_path, inline):
    works = Works(tmp_path, inline)
    activity = ActivityState(works.lender, works.batches)
    states = []
    activity.changed.connect(lambda: states.append(activity.state))
    works.lender.state = "paused"
    works.lender.changed.emit()
    _, run = works.run()
    works.lender.state = "elsewhere"
    works.lender.changed.emit()
    assert states[0] == "paused" and states[-1] == "working"
    run.end()
    assert activity.state == "elsewhere" and states[-1] == "elsewhere"
