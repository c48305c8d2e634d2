"""The plot draws what it is told, whatever that is, and says it in words."""

import math

import pytest

from mezzotint.training_protocol import TrainingLoss
from mezzotint_app.widgets.loss_plot import LossPlot


def curve(*values):
    return tuple(TrainingLoss(step=step, loss=float(value)) for step, value in enumerate(values, 1))


@pytest.fixture
def plot(qtbot):
    made = LossPlot()
    qtbot.addWidget(made)
    made.resize(400, 150)
    return made


def test_curves_are_drawn_and_told(plot):
    empty = plot.grab().toImage()
    assert plot.words() == "No steps yet"
    plot.show_losses(curve(3, 2, 1, 1, 1), (), 10)
    half = plot.grab().toImage()
    assert plot.words().startswith("Training loss ") and half != empty
    plot.show_losses(curve(3, 2, 1, 1, 1), (TrainingLoss(step=5, loss=1.25),), 10)
    assert plot.words().endswith("validation loss 1.25 (dashed)") and plot.grab().toImage() != half
    assert plot.accessibleDescription() == plot.words()


@pytest.mark.parametrize("values", [(1,), (2, 2, 2), (1, math.inf, math.nan, 2), (0, 1e9)])
def test_any_values_can_be_drawn(plot, values):
    plot.show_losses(curve(*values), (), 0)
    assert not plot.grab().isNull()
