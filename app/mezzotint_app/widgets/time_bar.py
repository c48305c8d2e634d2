"""Where the time of a job went, as a bar and as text."""

from collections.abc import Sequence

from PySide6.QtCore import QLocale, Qt

from mezzotint_app.viewmodel.create.timeline import Span
from mezzotint_app.widgets.segment_bar import SegmentBar

_PATTERNS = {
    "load": ("control", Qt.BrushStyle.Dense4Pattern),
    "encode": ("accent", Qt.BrushStyle.DiagCrossPattern),
    "denoise": ("accent", Qt.BrushStyle.SolidPattern),
    "decode": ("accent", Qt.BrushStyle.BDiagPattern),
    "save": ("control", Qt.BrushStyle.HorPattern),
}


class TimeBar(SegmentBar):
    """Shows the parts of a timeline."""

    def __init__(self) -> None:
        super().__init__(_PATTERNS)
        self._spans: tuple[Span, ...] = ()

    def show_spans(self, spans: Sequence[Span]) -> None:
        """Show these parts, from the left."""
        self._spans = tuple(spans)
        parts = [(one.kind, one.seconds) for one in self._spans]
        self.show_parts(parts, self.tr("Time: {parts}").format(parts=self.words()), self.words())

    def words(self) -> str:
        """The sum and the parts, from the left: 12.3 s: loading 2.1 s, 20 steps 9.8 s."""
        total = _seconds(sum(one.seconds for one in self._spans))
        parts = ", ".join(f"{one.name} {_seconds(one.seconds)}" for one in self._spans)
        return f"{total}: {parts}" if parts else ""


def _seconds(seconds: float) -> str:
    return f"{QLocale().toString(float(seconds), 'f', 1 if seconds >= 0.1 else 2)} s"
