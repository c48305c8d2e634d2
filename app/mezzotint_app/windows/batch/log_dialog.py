"""The log of a batch's last run, for troubleshooting."""

from collections.abc import Sequence

from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from mezzotint_app.widgets.labels import plain_label


class BatchLogDialog(QDialog):
    """Shows plain text."""

    def __init__(self, title: str, lines: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Batch log"))
        self.lines = QPlainTextEdit()
        self.lines.setReadOnly(True)
        self.lines.setTabChangesFocus(True)
        self.lines.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.lines.setAccessibleName(self.tr("Last lines of the log"))
        self.lines.setToolTip(self.tr("Output of the last run"))
        self.lines.setPlainText("\n".join(lines))
        buttons = QDialogButtonBox()
        copy = buttons.addButton(self.tr("Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.setToolTip(self.tr("Copy all lines, for a bug report"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.lines.toPlainText()))
        buttons.addButton(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Close the log"))
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(plain_label(title, role="heading", wrap=True))
        column.addWidget(self.lines, 1)
        column.addWidget(buttons)
        self.resize(760, 480)
