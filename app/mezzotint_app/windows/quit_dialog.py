"""Asks what to do when the window is closed with work left: continue in the background, or stop."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from mezzotint_app.widgets.labels import plain_label


class QuitDialog(QDialog):
    """Dismissing the dialog keeps the window open."""

    continue_in_background = Signal()
    stop = Signal()

    def __init__(self, parent: QWidget | None = None, *, batch: bool = False, queue: bool = True) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Quit Mezzotint?"))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        for heading, words in self._reasons(batch=batch, queue=queue or not batch):
            column.addWidget(plain_label(heading, role="heading", wrap=True))
            column.addWidget(plain_label(words, wrap=True))
        buttons = QDialogButtonBox()
        self.continue_button = buttons.addButton(
            self.tr("Continue in background"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.continue_button.setProperty("role", "primary")
        self.continue_button.setToolTip(
            self.tr("Images are generated without a window; start Mezzotint again to see them")
        )
        self.stop_button = buttons.addButton(self.tr("Quit and pause"), QDialogButtonBox.ButtonRole.DestructiveRole)
        self.stop_button.setToolTip(self.tr("Finished images are kept; the rest waits in the queue"))
        self.continue_button.setVisible(queue or not batch)
        if batch and not queue:
            self.stop_button.setText(self.tr("Quit after this image"))
            self.stop_button.setToolTip(
                self.tr("Resume on the Batch page generates the rest; nothing is generated twice")
            )
        self.stay_button = buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.stay_button.setToolTip(self.tr("Keep the window open"))
        self.continue_button.clicked.connect(lambda: self._leave(self.continue_in_background))
        self.stop_button.clicked.connect(lambda: self._leave(self.stop))
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.resize(480, self.sizeHint().height())

    def _reasons(self, *, batch: bool, queue: bool) -> list[tuple[str, str]]:
        found = []
        if batch:
            words = self.tr(
                "It stops after the current image, or immediately if that takes long. Nothing is lost: you "
                "can resume it from the list on the Batch page."
            )
            found.append((self.tr("A batch is running."), words))
        if queue:
            words = self.tr(
                "Mezzotint can continue to generate images in the background; they appear in the gallery. If "
                "you quit and pause, you can resume the rest when you start it again."
            )
            found.append((self.tr("The queue is not empty."), words))
        return found

    def _leave(self, signal: object) -> None:
        self.accept()
        signal.emit()  # type: ignore[attr-defined]
