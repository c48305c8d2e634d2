"""Every key of the window, under F1."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from mezzotint_app.widgets.labels import plain_label


def shortcuts() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Groups of keys and what they do; several keys are apart by a comma."""
    return (
        (
            QCoreApplication.translate("Shortcuts", "Everywhere"),
            (
                ("Ctrl+1", QCoreApplication.translate("Shortcuts", "Create")),
                ("Ctrl+2", QCoreApplication.translate("Shortcuts", "Queue")),
                ("Ctrl+3", QCoreApplication.translate("Shortcuts", "Gallery")),
                ("Ctrl+4", QCoreApplication.translate("Shortcuts", "Models")),
                ("Ctrl+5", QCoreApplication.translate("Shortcuts", "Batch")),
                ("Ctrl+,", QCoreApplication.translate("Shortcuts", "Settings")),
                ("F1", QCoreApplication.translate("Shortcuts", "This list")),
                ("Ctrl+L", QCoreApplication.translate("Shortcuts", "The engine's log")),
                ("Ctrl+V", QCoreApplication.translate("Shortcuts", "Paste a picture")),
                ("Ctrl+Q", QCoreApplication.translate("Shortcuts", "Quit")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Create"),
            (
                ("Ctrl+Return", QCoreApplication.translate("Shortcuts", "Generate")),
                ("Ctrl+Shift+Return", QCoreApplication.translate("Shortcuts", "Generate, before all that waits")),
                ("Ctrl+Up, Ctrl+Down", QCoreApplication.translate("Shortcuts", "More or less weight for words")),
                ("Alt+Up, Alt+Down", QCoreApplication.translate("Shortcuts", "Earlier and later prompts")),
                ("Ctrl+Z, Ctrl+Shift+Z", QCoreApplication.translate("Shortcuts", "Undo, redo")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Pictures"),
            (
                ("+, -", QCoreApplication.translate("Shortcuts", "Larger, smaller")),
                ("0, 1", QCoreApplication.translate("Shortcuts", "Whole picture, actual size")),
                (
                    "Left, Right, Up, Down",
                    QCoreApplication.translate("Shortcuts", "Move a picture that is larger than its place"),
                ),
                (
                    "Shift+Left, Shift+Right",
                    QCoreApplication.translate("Shortcuts", "Move the line between two pictures"),
                ),
                ("Return", QCoreApplication.translate("Shortcuts", "Full screen")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Full screen"),
            (
                ("Left, Right", QCoreApplication.translate("Shortcuts", "Previous, next picture")),
                ("Home, End", QCoreApplication.translate("Shortcuts", "First, last picture")),
                ("0, 1, 2, 3, 4, 5", QCoreApplication.translate("Shortcuts", "Stars")),
                ("C", QCoreApplication.translate("Shortcuts", "Mark, to compare with others")),
                ("I", QCoreApplication.translate("Shortcuts", "How it was made")),
                ("Z", QCoreApplication.translate("Shortcuts", "Whole picture, or actual size")),
                ("Ctrl+C", QCoreApplication.translate("Shortcuts", "Copy the picture")),
                ("Ctrl+Shift+C", QCoreApplication.translate("Shortcuts", "Copy its settings")),
                ("Del", QCoreApplication.translate("Shortcuts", "Into the system's trash")),
                ("Esc", QCoreApplication.translate("Shortcuts", "Close")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Mask"),
            (
                ("[, ]", QCoreApplication.translate("Shortcuts", "Smaller, larger brush")),
                ("{, }", QCoreApplication.translate("Shortcuts", "Softer, harder brush")),
                ("B, E", QCoreApplication.translate("Shortcuts", "Brush, eraser")),
                ("X", QCoreApplication.translate("Shortcuts", "The other of brush and eraser")),
                (
                    "Left, Right, Up, Down",
                    QCoreApplication.translate("Shortcuts", "Move the brush; with Shift in small steps"),
                ),
                ("Space", QCoreApplication.translate("Shortcuts", "Paint where the brush is")),
                ("Return", QCoreApplication.translate("Shortcuts", "Keep the brush down, and lift it")),
                ("Ctrl+Z, Ctrl+Shift+Z", QCoreApplication.translate("Shortcuts", "Undo, redo")),
                ("Ctrl+I", QCoreApplication.translate("Shortcuts", "Invert")),
                ("Ctrl+Shift+A", QCoreApplication.translate("Shortcuts", "Mask everything")),
                ("Ctrl+Shift+D", QCoreApplication.translate("Shortcuts", "Clear the mask")),
                ("Ctrl+Return", QCoreApplication.translate("Shortcuts", "Use it")),
                ("Esc", QCoreApplication.translate("Shortcuts", "Leave it as it was")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Gallery"),
            (
                ("Return", QCoreApplication.translate("Shortcuts", "Full screen")),
                ("0, 1, 2, 3, 4, 5", QCoreApplication.translate("Shortcuts", "Stars; 0 takes them away")),
                (".", QCoreApplication.translate("Shortcuts", "All stars, or those before")),
                ("Ctrl++, Ctrl+-", QCoreApplication.translate("Shortcuts", "Larger, smaller")),
                ("Ctrl+U", QCoreApplication.translate("Shortcuts", "Use its settings")),
                ("Ctrl+E", QCoreApplication.translate("Shortcuts", "Begin from it")),
                ("Ctrl+O", QCoreApplication.translate("Shortcuts", "Show in its folder")),
                ("Ctrl+F", QCoreApplication.translate("Shortcuts", "Search")),
                ("Ctrl+I", QCoreApplication.translate("Shortcuts", "How it was made")),
                ("Ctrl+C", QCoreApplication.translate("Shortcuts", "Copy the picture")),
                ("Ctrl+Shift+C", QCoreApplication.translate("Shortcuts", "Copy its settings")),
                ("C", QCoreApplication.translate("Shortcuts", "Compare two")),
                ("Del", QCoreApplication.translate("Shortcuts", "Into the system's trash")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Queue"),
            (
                ("Return", QCoreApplication.translate("Shortcuts", "Look at its pictures")),
                ("Ctrl+Up, Ctrl+Down", QCoreApplication.translate("Shortcuts", "Earlier, later in the queue")),
                ("Ctrl+Home", QCoreApplication.translate("Shortcuts", "To the front")),
                ("Ctrl+Backspace", QCoreApplication.translate("Shortcuts", "Cancel")),
                ("Ctrl+R", QCoreApplication.translate("Shortcuts", "Make what is missing")),
                ("Ctrl+D", QCoreApplication.translate("Shortcuts", "Duplicate")),
                ("F2", QCoreApplication.translate("Shortcuts", "Edit again on the Create page")),
                ("Ctrl+O", QCoreApplication.translate("Shortcuts", "Open the folder of its pictures")),
                ("Del", QCoreApplication.translate("Shortcuts", "Remove")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Models"),
            (("Return", QCoreApplication.translate("Shortcuts", "Make pictures with it")),),
        ),
    )


class ShortcutsDialog(QDialog):
    """Lists the keys."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keys"))
        content = QWidget()
        content.setProperty("role", "form")
        self._fill(QGridLayout(content))
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(content)
        scroll.setAccessibleName(self.tr("Keys and what they do"))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(scroll, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Closes this list"))
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.resize(560, 640)

    def _fill(self, grid: QGridLayout) -> None:
        grid.setHorizontalSpacing(24)
        grid.setColumnStretch(1, 1)
        row = 0
        for name, keys in shortcuts():
            grid.addWidget(plain_label(name, role="heading"), row, 0, 1, 2, Qt.AlignmentFlag.AlignBottom)
            grid.setRowMinimumHeight(row, 36)
            for sequence, meaning in keys:
                row += 1
                grid.addWidget(plain_label(_native(sequence), role="muted"), row, 0)
                grid.addWidget(plain_label(meaning, wrap=True), row, 1)
            row += 1
        grid.setRowStretch(row, 1)


def _native(sequence: str) -> str:
    """As this system writes keys."""
    return ", ".join(
        QKeySequence(one).toString(QKeySequence.SequenceFormat.NativeText) or one for one in sequence.split(", ")
    )
