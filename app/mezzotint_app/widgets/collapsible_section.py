"""A collapsible section of a page."""

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from mezzotint_app import theme
from mezzotint_app.resources import icon

_MARK = 16  # pixels
_GAP = 8


class CollapsibleSection(QWidget):
    """A heading that expands and collapses the body below it, by mouse, Space, Left and Right."""

    toggled = Signal(bool)

    def __init__(self, name: str, tip: str, body: QWidget) -> None:
        super().__init__()
        self._body = body
        self._head = SectionHeading(name)
        self._head.setToolTip(tip)
        self._head.toggled.connect(self._toggled)
        inside = QWidget()
        inner = QVBoxLayout(inside)
        inner.setContentsMargins(_MARK + _GAP, 4, 0, 12)
        inner.addWidget(body)
        self._inside = inside
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._head)
        layout.addWidget(inside)
        inside.setVisible(False)

    def is_open(self) -> bool:
        """Whether the body is visible."""
        return self._head.isChecked()

    def set_open(self, is_open: bool) -> None:
        """Expand or collapse the section."""
        self._head.setChecked(is_open)

    def set_summary(self, summary: str) -> None:
        """Set the short text that is shown beside the heading while the section is collapsed."""
        self._head.show_summary(summary)

    def head(self) -> "SectionHeading":
        """The heading."""
        return self._head

    def _toggled(self, is_open: bool) -> None:
        self._inside.setVisible(is_open)
        self.toggled.emit(is_open)


class SectionHeading(QAbstractButton):
    """The heading of a section: an arrow, its name and, while it is collapsed, a summary of its settings."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._summary = ""
        self.setText(name)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.toggled.connect(self._describe)
        theme.changes().changed.connect(self.update)
        self._describe()

    def show_summary(self, summary: str) -> None:
        """Set the summary of the settings."""
        self._summary = summary
        self._describe()
        self.update()

    def summary(self) -> str:
        """The summary of the settings."""
        return self._summary

    def sizeHint(self) -> QSize:  # noqa: N802
        """A line of text with padding."""
        return QSize(_MARK + _GAP + self._metrics().horizontalAdvance(self.text()), self.fontMetrics().height() + 14)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """The summary may be elided, and if necessary the name."""
        return QSize(80, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Expand on Right, collapse on Left."""
        if event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            self.setChecked(event.key() == Qt.Key.Key_Right)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Update the size after a change of font."""
        super().changeEvent(event)
        self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        """Paint the arrow and the texts."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        mark = icon("expand" if self.isChecked() else "folded")
        mark.paint(painter, QRect(2, (self.height() - _MARK) // 2, _MARK, _MARK))
        words = self.rect().adjusted(_MARK + _GAP, 0, -6, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._font())
        painter.setPen(theme.colour("text"))
        name = self._metrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, middle | Qt.AlignmentFlag.AlignLeft, name)
        used = self._metrics().horizontalAdvance(name) + 12
        if self._summary and not self.isChecked():
            painter.setFont(self.font())
            painter.setPen(theme.colour("muted"))
            rest = words.adjusted(used, 0, 0, 0)
            summary = self.fontMetrics().elidedText(self._summary, Qt.TextElideMode.ElideRight, rest.width())
            painter.drawText(rest, middle | Qt.AlignmentFlag.AlignRight, summary)
        painter.end()

    def _paint_ground(self, painter: QPainter) -> None:
        around = self.rect().adjusted(1, 1, -1, -1)
        if self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("raised"))
            painter.drawRoundedRect(around, 6, 6)
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(around, 6, 6)

    def _font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(self._font())

    def _describe(self) -> None:
        state = self.tr("open") if self.isChecked() else self.tr("closed")
        self.setAccessibleName(self.tr("{name}, {state}").format(name=self.text(), state=state))
        self.setAccessibleDescription(self._summary)
