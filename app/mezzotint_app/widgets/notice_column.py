"""A column of notices above a page; takes no room while there are none."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QVBoxLayout, QWidget


class NoticeColumn(QWidget):
    """Hidden while all its notices are hidden."""

    def __init__(self, *notices: QWidget) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 16, 8)
        column.setSpacing(8)
        self._notices = notices
        for notice in notices:
            column.addWidget(notice)
            notice.installEventFilter(self)
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Update when a notice is shown or hidden."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self._show()
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        self.setVisible(any(not notice.isHidden() for notice in self._notices))
