"""A button whose text is elided if there is not enough room."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

_NARROWEST = 96  # pixels
_GAP = 4  # between icon and text


class ElidedButton(QPushButton):
    """`text` is always complete; only the painted text is elided."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Smaller than the text, which may be elided."""
        whole = super().minimumSizeHint()
        return QSize(min(_NARROWEST, whole.width()), whole.height())

    def shown_text(self) -> str:
        """The text, elided to the available width."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self).width()
        if not self.icon().isNull():
            room -= self.iconSize().width() + _GAP
        if self.fontMetrics().horizontalAdvance(self.text()) <= room:
            return self.text()
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        """Paint the button in its style, with the elided text."""
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text()
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.end()
