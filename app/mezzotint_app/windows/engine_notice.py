"""Notices above the pages about the engine: why it does not work, and its installation."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.viewmodel.engine_state import EngineState
from mezzotint_app.viewmodel.late_start import LateStart
from mezzotint_app.widgets.notice_bar import NoticeBar


class EngineNotice(QWidget):
    """A notice about what happened, one that offers a remedy, and one about an installation."""

    log_asked = Signal()
    setup_asked = Signal()

    def __init__(self, state: EngineState, setup: EngineSetup | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._setup = state, setup
        self._setup_elsewhere = False
        self.trouble = NoticeBar("warning", "warning")
        self.offer = NoticeBar("info", "text")
        self.installing = NoticeBar("download", "text")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.trouble)
        column.addWidget(self.offer)
        column.addWidget(self.installing)
        self._make_buttons()
        self._late = LateStart(state.state, state.changed, parent=self)
        self._late.changed.connect(self._show)
        state.changed.connect(self._show)
        state.offer_changed.connect(self._show)
        if setup is not None:
            setup.changed.connect(self._show)
        self._show()

    def _make_buttons(self) -> None:
        state = self._state
        self.start_button = self._button(self.tr("Restart"), self.tr("Try to start the engine again"))
        self.log_button = self._button(self.tr("Show log"), self.tr("Show the engine's latest output (Ctrl+L)"))
        self.take_button = self._button(self.tr("Yes"), self.tr("You can change it back in the settings"))
        self.refuse_button = self._button(self.tr("No"), self.tr("Change nothing"))
        self.setup_button = self._button(self.tr("Installation…"), self.tr("Show the engine and its installation"))
        self.open_button = self._button(self.tr("Start now"), self.tr("Open this window again with the new version"))
        self.installing.add_button(self.setup_button)
        self.installing.add_button(self.open_button)
        self.setup_button.clicked.connect(self.setup_asked)
        if self._setup is not None:
            self.open_button.clicked.connect(self._setup.restart)
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
        self._show_setup()
        self.setVisible(any(bar.text() for bar in (self.trouble, self.offer, self.installing)))

    def set_setup_elsewhere(self, elsewhere: bool) -> None:
        """Whether the page below shows the installation itself."""
        self._setup_elsewhere = elsewhere
        self._show()

    def _show_setup(self) -> None:
        setup = self._setup
        self.installing.show_text(setup.notice() if setup is not None and not self._setup_elsewhere else "")
        ready = setup is not None and bool(setup.ready_version())
        self.open_button.setVisible(ready)
        self.setup_button.setVisible(not ready)

    def _words(self) -> str:
        state = self._state
        if self._setup is not None and self._setup.lacks_engine():
            return ""
        if state.state() in ("restarting", "given_up"):
            return " ".join(part for part in (state.reason(), f"{state.text()}.", self._waits()) if part)
        if state.is_put_off():
            return " ".join((self.tr("The engine was not started."), self._waits()))
        if self._late.is_late():
            return " ".join((self.tr("The engine is taking a long time to start."), self._waits()))
        return ""

    def _waits(self) -> str:
        return self.tr("Your jobs wait in the queue.")
