"""The machine is kept awake for the queue, for a batch, and for a training."""

import pytest
from batch_window import Works
from PySide6.QtCore import QObject, Signal

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


class Training(QObject):
    changed = Signal()
    is_running = False

    def runs(self):
        return self.is_running


def test_a_training_is_work(tmp_path, inline):
    works, training, states = Works(tmp_path, inline), Training(), []
    activity = ActivityState(works.lender, works.batches, training=training)
    activity.changed.connect(lambda: states.append(activity.state))
    for training.is_running in (True, False):
        training.changed.emit()
    assert states == ["working", "idle"]
