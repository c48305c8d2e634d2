"""The window is closed while there is work: go on without it, or stop."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from mezzotint_app.widgets.labels import plain_label


class LeavingDialog(QDialog):
    """Asks; closing it means that the window stays."""

    go_on = Signal()
    stop = Signal()

    def __init__(self, parent: QWidget | None = None, *, batch: bool = False, queue: bool = True) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("There is work left"))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        for heading, words in self._reasons(batch=batch, queue=queue or not batch):
            column.addWidget(plain_label(heading, role="heading", wrap=True))
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
        self.go_on_button.setVisible(queue or not batch)
        if batch and not queue:
            self.stop_button.setText(self.tr("Stop after this picture"))
            self.stop_button.setToolTip(self.tr("Go on on the Batch page makes the rest, and nothing twice"))
        self.stay_button = buttons.addButton(self.tr("Stay"), QDialogButtonBox.ButtonRole.RejectRole)
        self.stay_button.setToolTip(self.tr("Keeps the window open"))
        self.go_on_button.clicked.connect(lambda: self._leave(self.go_on))
        self.stop_button.clicked.connect(lambda: self._leave(self.stop))
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.resize(480, self.sizeHint().height())

    def _reasons(self, *, batch: bool, queue: bool) -> list[tuple[str, str]]:
        found = []
        if batch:
            words = self.tr(
                "It stops after the picture that is being made, or at once where that takes long. Nothing is lost: it "
                "is in the list of the Batch page, where it goes on when you want it to."
            )
            found.append((self.tr("A batch is being made."), words))
        if queue:
            words = self.tr(
                "Mezzotint can go on making the pictures without its window; they appear in the gallery. If it stops, "
                "the rest is offered when you start it again."
            )
            found.append((self.tr("The queue is not empty."), words))
        return found

    def _leave(self, signal: object) -> None:
        self.accept()
        signal.emit()  # type: ignore[attr-defined]
