"""Notices above the pages while the engine is not working: the reason and possible actions."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.engine_state import EngineState
from mezzotint_app.viewmodel.late_start import LateStart
from mezzotint_app.widgets.notice_bar import NoticeBar


class EngineNotice(QWidget):
    """A notice about what happened, and one that offers a remedy."""

    log_asked = Signal()

    def __init__(self, state: EngineState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.trouble = NoticeBar("warning", "warning")
        self.offer = NoticeBar("info", "text")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.trouble)
        column.addWidget(self.offer)
        self._make_buttons()
        self._late = LateStart(state.state, state.changed, parent=self)
        self._late.changed.connect(self._show)
        state.changed.connect(self._show)
        state.offer_changed.connect(self._show)
        self._show()

    def _make_buttons(self) -> None:
        state = self._state
        self.start_button = self._button(self.tr("Restart"), self.tr("Try to start the engine again"))
        self.log_button = self._button(self.tr("Show log"), self.tr("Show the engine's latest output (Ctrl+L)"))
        self.take_button = self._button(self.tr("Yes"), self.tr("You can change it back in the settings"))
        self.refuse_button = self._button(self.tr("No"), self.tr("Change nothing"))
        self.start_button.clicked.connect(state.restart)
        self.log_button.clicked.connect(self.log_asked)
        self.take_button.clicked.connect(state.take_offer)
        self.refuse_button.clicked.connect(state.refuse_offer)
        self.trouble.add_button(self.start_button)
        self.trouble.add_button(self.log_button)
        self.offer.add_button(self.take_button)
        self.offer.add_button(self.refuse_button)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        return button

    def _show(self) -> None:
        state = self._state
        self.trouble.show_text(self._words())
        self.start_button.setVisible(state.state() != "restarting")
        self.offer.show_text(state.offer_text())
        self.setVisible(bool(self.trouble.text() or self.offer.text()))

    def _words(self) -> str:
        state = self._state
        if state.state() in ("restarting", "given_up"):
            return " ".join(part for part in (state.reason(), f"{state.text()}.", self._waits()) if part)
        if state.is_put_off():
            return " ".join((self.tr("The engine was not started."), self._waits()))
        if self._late.is_late():
            return " ".join((self.tr("The engine is taking a long time to start."), self._waits()))
        return ""

    def _waits(self) -> str:
        return self.tr("Your jobs wait in the queue.")
