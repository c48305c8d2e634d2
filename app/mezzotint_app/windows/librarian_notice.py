"""A notice above the pages while the library service is not working: the reason, the effects, and Restart."""

from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from mezzotint_app.processes.supervisor import Supervisor
from mezzotint_app.viewmodel.late_start import LateStart
from mezzotint_app.widgets.notice_bar import NoticeBar


class LibrarianNotice(QWidget):
    """Hidden while the library service works."""

    def __init__(self, librarian: Supervisor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._late = LateStart(librarian.state, librarian.changed, parent=self)
        self.trouble = NoticeBar("warning", "warning")
        self.start_button = QPushButton(self.tr("Restart"))
        self.start_button.setToolTip(self.tr("Try to start the library service again"))
        self.start_button.setAccessibleName(self.tr("Restart the library service"))
        self.start_button.clicked.connect(librarian.restart)
        self.trouble.add_button(self.start_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.trouble)
        librarian.changed.connect(self._show)
        self._late.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        text = self._words()
        self.trouble.show_text(text)
        self.start_button.setVisible(self._librarian.state() != "restarting")
        self.setVisible(bool(text))

    def _words(self) -> str:
        state, reason = self._librarian.state(), self._librarian.reason()
        waits = self.tr(
            "The gallery, models and dropped files are unavailable until then; image generation is not affected."
        )
        if state == "restarting":
            return " ".join((reason, self.tr("It is restarting."), waits))
        if state == "given_up":
            return " ".join((reason, self.tr("It does not restart automatically."), waits))
        if self._late.is_late():
            return " ".join((self.tr("The library service is taking a long time to start."), waits))
        return ""
