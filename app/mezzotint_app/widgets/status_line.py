"""The line at the foot of the window: the engine, what was just said, the queue, memory."""

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from mezzotint_app.resources import icon_in
from mezzotint_app.widgets.elided_button import ElidedButton
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import ElidedLabel, plain_label

_TOLD = 8000  # milliseconds that a message stays
_ICON = QSize(16, 16)


class StatusLine(QFrame):
    """Words, never a colour alone."""

    engine_asked = Signal()  # how the engine does
    queue_asked = Signal()
    cancel_asked = Signal()  # of what the engine is beginning

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "foot")
        self.engine = ElidedButton()
        self.engine.setProperty("role", "quiet")
        self.engine.setIconSize(_ICON)
        self.engine.setToolTip(self.tr("Engine status and log (Ctrl+L)"))
        self.queue = ElidedButton()
        self.queue.setProperty("role", "quiet")
        self.queue.setToolTip(self.tr("Opens the queue (Ctrl+2)"))
        self.cancel = icon_button("cancel", self.tr("Stop"))
        self.cancel.hide()
        self.message = ElidedLabel()
        self.message.setProperty("role", "muted")
        self.memory = plain_label(role="muted")
        self._fading = QTimer(self)
        self._fading.setSingleShot(True)
        self._fading.timeout.connect(lambda: self.message.setText(""))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 12, 2)
        row.setSpacing(12)
        row.addWidget(self.engine)
        row.addWidget(self.cancel)
        row.addWidget(self.message, 1)
        row.addWidget(self.memory)
        row.addWidget(self.queue)
        self.engine.clicked.connect(self.engine_asked)
        self.queue.clicked.connect(self.queue_asked)
        self.cancel.clicked.connect(self.cancel_asked)

    def show_engine(self, text: str, drawing: str, colour: str) -> None:
        """How it does: words, and a drawing that means the same."""
        self.engine.setText(text)
        self.engine.setIcon(icon_in(drawing, colour))
        self.engine.setAccessibleName(text)

    def show_cancel(self, text: str) -> None:
        """What pressing it stops; empty: there is nothing to be stopped."""
        self.cancel.setToolTip(text)
        self.cancel.setAccessibleName(text)
        self.cancel.setVisible(bool(text))

    def show_queue(self, text: str) -> None:
        """The queue in one line."""
        self.queue.setText(text)
        self.queue.setAccessibleName(text)

    def show_memory(self, text: str) -> None:
        """What is used now; empty: nothing works."""
        self.memory.setText(text)
        self.memory.setVisible(bool(text))

    def tell(self, text: str) -> None:
        """Say this for a while."""
        self.message.setText(text)
        self._fading.start(_TOLD)
