"""A button whose words are shortened where there is no room for them."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

_NARROWEST = 96  # pixels
_GAP = 4  # between drawing and words


class ElidedButton(QPushButton):
    """`text` is always whole; only what is painted is cut."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """It may be cut."""
        whole = super().minimumSizeHint()
        return QSize(min(_NARROWEST, whole.width()), whole.height())

    def shown_text(self) -> str:
        """As much of the text as there is room for."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self).width()
        if not self.icon().isNull():
            room -= self.iconSize().width() + _GAP
        if self.fontMetrics().horizontalAdvance(self.text()) <= room:
            return self.text()
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        """As the style paints it, with fewer words."""
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text()
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.end()
