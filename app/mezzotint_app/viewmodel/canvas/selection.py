"""Selections: shapes that limit what tools change."""

from typing import Literal

from PySide6.QtGui import QPainterPath

How = Literal["replace", "add", "subtract"]


def combined(selection: QPainterPath | None, path: QPainterPath, how: How) -> QPainterPath | None:
    """Return a selection with a shape added, subtracted or in its place; None if nothing is left."""
    if how == "replace" or selection is None:
        result = QPainterPath() if how == "subtract" else path.simplified()
    else:
        result = selection.united(path) if how == "add" else selection.subtracted(path)
    return None if result.boundingRect().isEmpty() else result
