"""The frame that is generated into: moved, resized, and snapped to the sizes that a model can make."""

from PySide6.QtCore import QPoint, QPointF, QRect

from mezzotint_app.viewmodel.create.sizes import snapped

LARGEST = 4096  # pixels of a side


def edges_at(frame: QRect, at: QPointF, reach: float) -> frozenset[str]:
    """Return the edges of the frame near a point; none inside it, which moves the frame."""
    x, y = at.x(), at.y()
    right, bottom = frame.x() + frame.width(), frame.y() + frame.height()
    if not (frame.x() - reach <= x <= right + reach and frame.y() - reach <= y <= bottom + reach):
        return frozenset()
    distances = {"left": x - frame.x(), "right": x - right, "top": y - frame.y(), "bottom": y - bottom}
    return frozenset(edge for edge, distance in distances.items() if abs(distance) <= reach)


def dragged(frame: QRect, edges: frozenset[str], by: QPoint, step: int) -> QRect:
    """Return the frame after dragging edges by a distance, or all of it without any; position and size snap."""
    if not edges:
        return QRect(
            round((frame.x() + by.x()) / step) * step,
            round((frame.y() + by.y()) / step) * step,
            _side(frame.width(), step),
            _side(frame.height(), step),
        )
    across = -by.x() if "left" in edges else by.x() if "right" in edges else 0
    down = -by.y() if "top" in edges else by.y() if "bottom" in edges else 0
    width, height = _side(frame.width() + across, step), _side(frame.height() + down, step)
    left = frame.x() + frame.width() - width if "left" in edges else frame.x()
    top = frame.y() + frame.height() - height if "top" in edges else frame.y()
    return QRect(left, top, width, height)


def stretched(where: QRect, edges: frozenset[str], by: QPoint) -> QRect:
    """Return a rectangle after dragging edges by a distance; a corner keeps the ratio of the sides."""
    across = -by.x() if "left" in edges else by.x() if "right" in edges else 0
    down = -by.y() if "top" in edges else by.y() if "bottom" in edges else 0
    width, height = max(where.width() + across, 1), max(where.height() + down, 1)
    if len(edges) > 1:
        factor = max(width / where.width(), height / where.height())
        width, height = max(round(where.width() * factor), 1), max(round(where.height() * factor), 1)
    left = where.x() + where.width() - width if "left" in edges else where.x()
    top = where.y() + where.height() - height if "top" in edges else where.y()
    return QRect(left, top, width, height)


def around(where: QRect, step: int) -> QRect:
    """Return the smallest frame of valid size around a rectangle, with its upper left corner."""
    width, height = (_side(-(-side // step) * step, step) for side in (where.width(), where.height()))
    return QRect(where.left(), where.top(), width, height)


def _side(pixels: int, step: int) -> int:
    return min(snapped(pixels, step), LARGEST // step * step)
