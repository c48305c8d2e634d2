"""Curves of the loss: thinned while a training runs, and smoothed for display."""

from collections.abc import Iterable, Sequence

from mezzotint.training_protocol import EpochSaved, TrainingLoss

MOST_POINTS = 2000  # kept of a running training; more are averaged in pairs
_SHARE, _LEAST = 0.05, 8.0  # of the curve, and points at least, that one is smoothed over


class LossCurve:
    """The losses of a run, to which steps are added."""

    def __init__(self, losses: Iterable[TrainingLoss] = ()) -> None:
        self._losses = list(losses)

    def add(self, loss: TrainingLoss) -> None:
        """Add the loss of a step, in place of those after it: a training may go on from an earlier state."""
        if self._losses and self._losses[-1].step >= loss.step:
            self._losses = [one for one in self._losses if one.step < loss.step]
        self._losses.append(loss)
        if len(self._losses) > MOST_POINTS:
            self._losses = [_mean(self._losses[at : at + 2]) for at in range(0, len(self._losses), 2)]

    def points(self) -> tuple[TrainingLoss, ...]:
        """The losses so far."""
        return tuple(self._losses)


def smoothed(losses: Sequence[TrainingLoss]) -> tuple[TrainingLoss, ...]:
    """An exponential average over a share of the curve, unbiased at its beginning."""
    keep = 1 - 1 / max(_LEAST, _SHARE * len(losses))
    shown, total, weight = [], 0.0, 0.0
    for one in losses:
        total, weight = keep * total + one.loss, keep * weight + 1
        shown.append(TrainingLoss(step=one.step, loss=total / weight))
    return tuple(shown)


def validation_of(epochs: Iterable[EpochSaved]) -> tuple[TrainingLoss, ...]:
    """The validation loss of each epoch that has one."""
    return tuple(TrainingLoss(step=one.step, loss=one.validation) for one in epochs if one.validation is not None)


def best_epoch(epochs: Iterable[EpochSaved]) -> int | None:
    """The epoch of the lowest validation loss, or None without validation."""
    found = [(one.validation, one.epoch) for one in epochs if one.validation is not None]
    return min(found)[1] if found else None


def _mean(losses: Sequence[TrainingLoss]) -> TrainingLoss:
    return TrainingLoss(step=losses[-1].step, loss=sum(one.loss for one in losses) / len(losses))
