"""The LoRAs in a window of their own, from which they can be dragged to the Create page."""

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QVBoxLayout, QWidget

from mezzotint_app.windows.models.lora_browser import LoraBrowser

_BELOW = 48  # pixels


class LoraDialog(QDialog):
    """Shows a browser."""

    def __init__(self, browser: LoraBrowser, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("LoRAs"))
        self.browser = browser
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(browser, 1)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.button(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Close"))
        close.rejected.connect(self.reject)
        column.addWidget(close)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # Return in a field is for that field
        self.resize(860, 560)
        if parent is not None:
            self._place_beside_form(parent.frameGeometry())

    def _place_beside_form(self, window: QRect) -> None:
        """Leave the prompt, which LoRAs are dragged to, in sight."""
        self.resize(min(self.width(), window.width() * 5 // 8), self.height())
        self.move(max(window.left(), window.right() - self.width()), window.top() + _BELOW)

    def done(self, result: int) -> None:
        """Close, and ask for no more pictures."""
        self.browser.leave()
        super().done(result)
