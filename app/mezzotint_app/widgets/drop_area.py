"""An area that accepts dropped data and shows that it does."""

from PySide6.QtCore import QMimeData, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from mezzotint_app import theme
from mezzotint_app.viewmodel.dropped.data import can_hold, drop_data
from mezzotint_app.widgets.labels import plain_label


class DropArea(QFrame):
    """Accepts data that is dropped on it, or pasted while it or a child has the focus."""

    dropped = Signal(object)  # DropData

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._over = False

    def is_over(self) -> bool:
        """Whether data that can be dropped is being dragged over it."""
        return self._over

    def paste(self) -> None:
        """Accept the clipboard's contents."""
        # An empty clipboard has no data at all, whatever the annotation of mimeData says.
        self._take(QGuiApplication.clipboard().mimeData() or QMimeData())

    def _take(self, data: QMimeData) -> None:
        self.dropped.emit(drop_data(data))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802, D102
        if can_hold(event.mimeData()):
            event.acceptProposedAction()
            self._set_over(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802, D102, ARG002
        self._set_over(False)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802, D102
        self._set_over(False)
        event.acceptProposedAction()
        self._take(event.mimeData())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        else:
            super().keyPressEvent(event)

    def _set_over(self, over: bool) -> None:
        self._over = over
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, D102
        super().paintEvent(event)
        if self._over:
            painter = QPainter(self)
            paint_edge(painter, QRectF(self.rect()), theme.colour("accent"))
            painter.end()


class DropHint(QFrame):
    """A text in a dashed frame that says what can be dropped here."""

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(words)
        self._words = plain_label(words, role="muted", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 24, 16, 24)
        layout.setSpacing(12)
        layout.addWidget(self._words)
        theme.changes().changed.connect(self.update)

    def add(self, widget: QWidget) -> None:
        """Add a control below the text."""
        self.layout().addWidget(widget)  # type: ignore[union-attr]

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, D102
        super().paintEvent(event)
        painter = QPainter(self)
        paint_edge(painter, QRectF(self.rect()), theme.colour("control"))
        painter.end()


def paint_edge(painter: QPainter, where: QRectF, colour: QColor) -> None:
    """Draw a dashed frame."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1.5, Qt.PenStyle.DashLine))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(where.adjusted(1, 1, -1, -1), 8, 8)
