"""Curves are kept short and shown smooth."""

import pytest
from train_made import epoch

from mezzotint.training_protocol import TrainingLoss
from mezzotint_app.viewmodel.train import losses
from mezzotint_app.viewmodel.train.losses import LossCurve, best_epoch, smoothed, validation_of


def curve(*values):
    return tuple(TrainingLoss(step=step, loss=float(value)) for step, value in enumerate(values, 1))


def test_a_constant_stays_constant_and_a_peak_is_damped():
    assert [one.loss for one in smoothed(curve(*[2] * 50))] == pytest.approx([2] * 50)
    found = smoothed(curve(*[1] * 30, 9, *[1] * 30))
    assert max(one.loss for one in found) < 3 and [one.step for one in found] == list(range(1, 62))
    assert smoothed(()) == ()


def test_a_long_curve_is_averaged_in_pairs(monkeypatch):
    monkeypatch.setattr(losses, "MOST_POINTS", 4)
    made = LossCurve(curve(1, 3, 5))
    made.add(TrainingLoss(step=4, loss=7))
    assert len(made.points()) == 4
    made.add(TrainingLoss(step=5, loss=8))
    assert [(one.step, one.loss) for one in made.points()] == [(2, 2.0), (4, 6.0), (5, 8.0)]


def test_validation_is_that_of_the_epochs_that_have_one():
    epochs = (epoch(1, validation=0.5), epoch(2), epoch(3, validation=0.3))
    assert [(one.step, one.loss) for one in validation_of(epochs)] == [(10, 0.5), (30, 0.3)]
    assert best_epoch(epochs) == 3 and best_epoch((epoch(1),)) is None
