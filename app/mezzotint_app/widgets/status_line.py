"""The status bar at the bottom of the window: engine, latest message, queue and memory."""

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from mezzotint_app.resources import icon_in
from mezzotint_app.widgets.elided_button import ElidedButton
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import ElidedLabel, plain_label

_MESSAGE_TIME = 8000  # milliseconds that a message is shown
_ICON = QSize(16, 16)


class StatusLine(QFrame):
    """Always uses text, never a colour alone."""

    engine_asked = Signal()  # the engine's status was requested
    queue_asked = Signal()
    cancel_asked = Signal()  # of what the engine is starting

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "foot")
        self.engine = ElidedButton()
        self.engine.setProperty("role", "quiet")
        self.engine.setIconSize(_ICON)
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

    def show_engine(self, text: str, drawing: str, colour: str, tip: str) -> None:
        """Show the engine's state as text and a matching icon; `tip`: what a click shows."""
        self.engine.setText(text)
        self.engine.setIcon(icon_in(drawing, colour))
        self.engine.setAccessibleName(text)
        self.engine.setToolTip(tip)

    def show_cancel(self, text: str) -> None:
        """Set what the stop button stops; empty hides it."""
        self.cancel.setToolTip(text)
        self.cancel.setAccessibleName(text)
        self.cancel.setVisible(bool(text))

    def show_queue(self, text: str) -> None:
        """Show the queue's state in one line."""
        self.queue.setText(text)
        self.queue.setAccessibleName(text)

    def show_memory(self, text: str) -> None:
        """Show the current memory use; empty while nothing is running."""
        self.memory.setText(text)
        self.memory.setVisible(bool(text))

    def show_message(self, text: str) -> None:
        """Show a message for a while."""
        self.message.setText(text)
        self._fading.start(_MESSAGE_TIME)
