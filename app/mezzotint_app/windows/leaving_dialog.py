"""The window is closed while there is work: go on without it, or stop."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from mezzotint_app.widgets.labels import plain_label


class LeavingDialog(QDialog):
    """Asks; closing it means that the window stays."""

    go_on = Signal()
    stop = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("There is work left"))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        column.addWidget(plain_label(self.tr("The queue is not empty."), role="heading", wrap=True))
        words = self.tr(
            "Mezzotint can go on making the pictures without its window; they appear in the gallery. If it stops, the "
            "rest is offered when you start it again."
        )
        column.addWidget(plain_label(words, wrap=True))
        buttons = QDialogButtonBox()
        self.go_on_button = buttons.addButton(
            self.tr("Go on without the window"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.go_on_button.setProperty("role", "primary")
        self.go_on_button.setToolTip(
            self.tr("Pictures are made in the background; starting Mezzotint shows them again")
        )
        self.stop_button = buttons.addButton(self.tr("Stop"), QDialogButtonBox.ButtonRole.DestructiveRole)
        self.stop_button.setToolTip(self.tr("Finished pictures stay; the rest waits"))
        self.stay_button = buttons.addButton(self.tr("Stay"), QDialogButtonBox.ButtonRole.RejectRole)
        self.stay_button.setToolTip(self.tr("Keeps the window open"))
        self.go_on_button.clicked.connect(lambda: self._leave(self.go_on))
        self.stop_button.clicked.connect(lambda: self._leave(self.stop))
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.resize(480, self.sizeHint().height())

    def _leave(self, signal: object) -> None:
        self.accept()
        signal.emit()  # type: ignore[attr-defined]
