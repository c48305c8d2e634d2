"""A plot of the loss over the steps of a training: smoothed, with the validation loss of each epoch."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from mezzotint.training_protocol import TrainingLoss
from mezzotint_app import theme
from mezzotint_app.amounts import number_text
from mezzotint_app.viewmodel.train.losses import smoothed

_HEIGHT = 150  # device-independent pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 26, 24
_TICKS = 4
_POINT = 3.5
_FAINT = 60  # of 255: the loss of each step


class LossPlot(QWidget):
    """Draws curves, and says in words where they end."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._losses: tuple[TrainingLoss, ...] = ()
        self._smooth: tuple[TrainingLoss, ...] = ()
        self._validation: tuple[TrainingLoss, ...] = ()
        self._steps = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Loss"))
        self.setToolTip(
            self.tr("How far the model is from the images: it falls fast at first. The samples say more than this.")
        )
        theme.changes().changed.connect(self.update)

    def show_losses(self, losses: Sequence[TrainingLoss], validation: Sequence[TrainingLoss], steps: int) -> None:
        """Show the losses of a run of so many steps."""
        if (tuple(losses), tuple(validation), steps) == (self._losses, self._validation, self._steps):
            return
        self._losses, self._validation, self._steps = tuple(losses), tuple(validation), steps
        self._smooth = smoothed(losses)
        self.setAccessibleDescription(self.words())
        self.update()

    def words(self) -> str:
        """The last values as text."""
        return ", ".join(words for words, _ in self._legend()) or self.tr("No steps yet")

    def _legend(self) -> list[tuple[str, str]]:
        """The last value of each curve as text, with its colour."""
        found = []
        if self._smooth:
            found.append((self.tr("Training loss {loss}").format(loss=_short(self._smooth[-1].loss)), "accent"))
        if self._validation:
            words = self.tr("validation loss {loss} (dashed)").format(loss=_short(self._validation[-1].loss))
            found.append((words, "good"))
        return found

    def sizeHint(self) -> QSize:  # noqa: N802, D102
        return QSize(400, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, D102, ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)
        scale = _Scale(area, self._steps, self._losses, self._smooth, self._validation)
        self._draw_axes(painter, scale)
        self._draw_legend(painter, QRectF(_LEFT, 2, area.width(), _TOP - 6))
        if self._losses:
            faint = QColor(theme.colour("accent"))
            faint.setAlpha(_FAINT)
            _draw_line(painter, scale, self._losses, QPen(faint, 1))
            _draw_line(painter, scale, self._smooth, QPen(theme.colour("accent"), 2))
        self._draw_validation(painter, scale)
        painter.end()

    def _draw_legend(self, painter: QPainter, room: QRectF) -> None:
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for words, colour in self._legend() or [(self.tr("No steps yet"), "muted")]:
            painter.setPen(theme.colour(colour))
            painter.drawText(room, flags, words)
            room = room.adjusted(painter.fontMetrics().horizontalAdvance(words) + 16, 0, 0, 0)

    def _draw_axes(self, painter: QPainter, scale: "_Scale") -> None:
        area, line = scale.area, QPen(theme.colour("line"), 1)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for number in range(_TICKS + 1):
            value = scale.low + (scale.high - scale.low) * number / _TICKS
            y = scale.y(value)
            painter.setPen(line)
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            if self._losses:
                painter.setPen(theme.colour("muted"))
                painter.drawText(QRectF(0, y - 10, _LEFT - 8, 20), flags, _short(value))
        painter.setPen(theme.colour("muted"))
        below = QRectF(area.left(), area.bottom() + 4, area.width(), _BOTTOM - 4)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, "0")
        if scale.steps > 1:
            words = self.tr("step {step}").format(step=scale.steps)
            painter.drawText(below, Qt.AlignmentFlag.AlignRight, words)

    def _draw_validation(self, painter: QPainter, scale: "_Scale") -> None:
        """A dashed line with a point for each epoch, so that it differs not by colour alone."""
        if not self._validation:
            return
        colour = theme.colour("good")
        _draw_line(painter, scale, self._validation, QPen(colour, 1.5, Qt.PenStyle.DashLine))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for one in self._validation:
            painter.drawEllipse(scale.point(one), _POINT, _POINT)


class _Scale:
    """Steps and losses as positions."""

    def __init__(self, area: QRectF, steps: int, *curves: Sequence[TrainingLoss]) -> None:
        points = [one for curve in curves for one in curve if math.isfinite(one.loss)]
        self.area = area
        self.steps = max([steps, 1, *(one.step for one in points)])
        values = sorted(one.loss for one in points) or [0.0, 1.0]
        self.low, self.high = values[0], values[min(len(values) - 1, round(0.99 * len(values)))]  # without rare peaks
        if self.high <= self.low:
            self.low, self.high = self.low - 0.5, self.low + 0.5

    def y(self, loss: float) -> float:
        share = (min(loss, self.high) - self.low) / (self.high - self.low)
        return self.area.bottom() - share * self.area.height()

    def point(self, one: TrainingLoss) -> QPointF:
        return QPointF(self.area.left() + one.step / self.steps * self.area.width(), self.y(one.loss))


def _draw_line(painter: QPainter, scale: _Scale, curve: Sequence[TrainingLoss], pen: QPen) -> None:
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF([scale.point(one) for one in curve if math.isfinite(one.loss)]))


def _short(value: float) -> str:
    return number_text(float(f"{value:.3g}"))
