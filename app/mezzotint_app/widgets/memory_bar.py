"""Planned memory use as a bar, and as text."""

from collections.abc import Sequence

from PySide6.QtCore import Qt

from mezzotint_app.amounts import bytes_text
from mezzotint_app.viewmodel.create.plan_text import Segment
from mezzotint_app.widgets.segment_bar import SegmentBar

_PATTERNS = {
    "weights": ("accent", Qt.BrushStyle.SolidPattern),
    "activations": ("accent", Qt.BrushStyle.BDiagPattern),
    "other": ("control", Qt.BrushStyle.Dense4Pattern),
    "missing": ("danger", Qt.BrushStyle.DiagCrossPattern),
}


class MemoryBar(SegmentBar):
    """Shows the segments of a plan."""

    def __init__(self) -> None:
        super().__init__(_PATTERNS)
        self._segments: tuple[Segment, ...] = ()

    def show_segments(self, segments: Sequence[Segment]) -> None:
        """Show these segments, from the left."""
        self._segments = tuple(segments)
        parts = [(one.kind, float(one.bytes)) for one in self._segments]
        self.show_parts(parts, self.tr("Memory: {parts}").format(parts=self.words()), self.words())

    def words(self) -> str:
        """The segments with their sizes, from the left."""
        return ", ".join(f"{one.name} {bytes_text(one.bytes)}" for one in self._segments)
