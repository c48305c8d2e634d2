"""The list of keyboard shortcuts, opened with F1."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from mezzotint_app.widgets.labels import plain_label


def shortcuts() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Groups of shortcuts and their meanings; alternatives are separated by commas."""
    return (
        (
            QCoreApplication.translate("Shortcuts", "All pages"),
            (
                ("Ctrl+1", QCoreApplication.translate("Shortcuts", "Create")),
                ("Ctrl+2", QCoreApplication.translate("Shortcuts", "Queue")),
                ("Ctrl+3", QCoreApplication.translate("Shortcuts", "Gallery")),
                ("Ctrl+4", QCoreApplication.translate("Shortcuts", "Models")),
                ("Ctrl+5", QCoreApplication.translate("Shortcuts", "Batch")),
                ("Ctrl+6", QCoreApplication.translate("Shortcuts", "Train")),
                ("Ctrl+7", QCoreApplication.translate("Shortcuts", "Canvas")),
                ("Ctrl+,", QCoreApplication.translate("Shortcuts", "Settings")),
                ("F1", QCoreApplication.translate("Shortcuts", "This list")),
                ("Ctrl+L", QCoreApplication.translate("Shortcuts", "The engine's log")),
                ("Ctrl+V", QCoreApplication.translate("Shortcuts", "Paste an image")),
                ("Ctrl+Q", QCoreApplication.translate("Shortcuts", "Quit")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Create"),
            (
                ("Ctrl+Return", QCoreApplication.translate("Shortcuts", "Generate")),
                ("Ctrl+Shift+Return", QCoreApplication.translate("Shortcuts", "Generate next")),
                ("Ctrl+Up, Ctrl+Down", QCoreApplication.translate("Shortcuts", "Change the weight of words")),
                ("Alt+Up, Alt+Down", QCoreApplication.translate("Shortcuts", "Prompt history")),
                ("Ctrl+Z, Ctrl+Shift+Z", QCoreApplication.translate("Shortcuts", "Undo, redo")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Images"),
            (
                ("+, -", QCoreApplication.translate("Shortcuts", "Zoom in, zoom out")),
                ("0, 1", QCoreApplication.translate("Shortcuts", "Fit to window, actual size")),
                (
                    "Left, Right, Up, Down",
                    QCoreApplication.translate("Shortcuts", "Pan"),
                ),
                (
                    "Shift+Left, Shift+Right",
                    QCoreApplication.translate("Shortcuts", "Move the divider"),
                ),
                ("Return", QCoreApplication.translate("Shortcuts", "Full screen")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Full screen"),
            (
                ("Left, Right", QCoreApplication.translate("Shortcuts", "Previous, next image")),
                ("Home, End", QCoreApplication.translate("Shortcuts", "First, last image")),
                ("0, 1, 2, 3, 4, 5", QCoreApplication.translate("Shortcuts", "Stars")),
                ("C", QCoreApplication.translate("Shortcuts", "Mark for comparison")),
                ("I", QCoreApplication.translate("Shortcuts", "Image details")),
                ("Z", QCoreApplication.translate("Shortcuts", "Fit to window, or actual size")),
                ("S", QCoreApplication.translate("Shortcuts", "Slideshow")),
                ("V", QCoreApplication.translate("Shortcuts", "Variations")),
                (".", QCoreApplication.translate("Shortcuts", "Toggle star")),
                ("Ctrl+C", QCoreApplication.translate("Shortcuts", "Copy the image")),
                ("Ctrl+Shift+C", QCoreApplication.translate("Shortcuts", "Copy its settings")),
                ("Del", QCoreApplication.translate("Shortcuts", "Move to trash")),
                ("Ctrl+Z", QCoreApplication.translate("Shortcuts", "Restore from trash")),
                ("Esc", QCoreApplication.translate("Shortcuts", "Close")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Canvas"),
            (
                (
                    "B, E, L, R, G, M, N, I, V, F",
                    QCoreApplication.translate("Shortcuts", "Tools, in the toolbar's order"),
                ),
                ("C", QCoreApplication.translate("Shortcuts", "Colour")),
                ("[, ]", QCoreApplication.translate("Shortcuts", "Smaller, larger brush")),
                ("{, }", QCoreApplication.translate("Shortcuts", "Softer, harder brush")),
                (
                    "Left, Right, Up, Down",
                    QCoreApplication.translate("Shortcuts", "Move the tool; with Shift in small steps"),
                ),
                ("Ctrl+Left, Ctrl+Right, Ctrl+Up, Ctrl+Down", QCoreApplication.translate("Shortcuts", "Pan")),
                ("Space", QCoreApplication.translate("Shortcuts", "Press the tool")),
                ("Return", QCoreApplication.translate("Shortcuts", "Hold or release the tool")),
                ("Esc", QCoreApplication.translate("Shortcuts", "Give up the shape")),
                ("+, -", QCoreApplication.translate("Shortcuts", "Zoom in, zoom out")),
                ("0, 1", QCoreApplication.translate("Shortcuts", "Fit to window, actual size")),
                ("Ctrl+Z, Ctrl+Shift+Z", QCoreApplication.translate("Shortcuts", "Undo, redo")),
                ("Ctrl+Return", QCoreApplication.translate("Shortcuts", "Generate")),
                ("PgUp, PgDown", QCoreApplication.translate("Shortcuts", "Previous, next candidate")),
                ("X", QCoreApplication.translate("Shortcuts", "Before, after")),
                ("Shift+Return", QCoreApplication.translate("Shortcuts", "Accept the candidate")),
                ("Ctrl+A, Ctrl+D", QCoreApplication.translate("Shortcuts", "Select the frame, deselect")),
                ("Ctrl+Shift+I", QCoreApplication.translate("Shortcuts", "Invert selection")),
                ("Del", QCoreApplication.translate("Shortcuts", "Discard the candidate, or erase the selection")),
                ("Ctrl+O, Ctrl+S", QCoreApplication.translate("Shortcuts", "Open, save")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Gallery"),
            (
                ("Return", QCoreApplication.translate("Shortcuts", "Full screen")),
                ("0, 1, 2, 3, 4, 5", QCoreApplication.translate("Shortcuts", "Rating; 0 clears it")),
                (".", QCoreApplication.translate("Shortcuts", "Toggle star")),
                ("Ctrl++, Ctrl+-", QCoreApplication.translate("Shortcuts", "Zoom in, zoom out")),
                ("Ctrl+U", QCoreApplication.translate("Shortcuts", "Load settings")),
                ("V, R, M", QCoreApplication.translate("Shortcuts", "Variations, remix, other model")),
                ("S", QCoreApplication.translate("Shortcuts", "Sort by similarity")),
                ("B, T", QCoreApplication.translate("Shortcuts", "Boards and tags of images")),
                ("Ctrl+B", QCoreApplication.translate("Shortcuts", "List of boards")),
                ("F2", QCoreApplication.translate("Shortcuts", "Rename a board")),
                ("Ctrl+E", QCoreApplication.translate("Shortcuts", "Use as init image")),
                ("Ctrl+Shift+E", QCoreApplication.translate("Shortcuts", "Edit this image")),
                ("Ctrl+K", QCoreApplication.translate("Shortcuts", "Open in canvas")),
                ("Ctrl+Shift+U", QCoreApplication.translate("Shortcuts", "Upscale")),
                ("Ctrl+Shift+B", QCoreApplication.translate("Shortcuts", "Remove background")),
                ("Ctrl+O", QCoreApplication.translate("Shortcuts", "Show in its folder")),
                ("Ctrl+F", QCoreApplication.translate("Shortcuts", "Search")),
                ("Ctrl+I", QCoreApplication.translate("Shortcuts", "Image details")),
                ("Ctrl+C", QCoreApplication.translate("Shortcuts", "Copy the image")),
                ("Ctrl+Shift+C", QCoreApplication.translate("Shortcuts", "Copy its settings")),
                ("C", QCoreApplication.translate("Shortcuts", "Compare two to four")),
                ("Del", QCoreApplication.translate("Shortcuts", "Move to trash")),
                ("Ctrl+Z", QCoreApplication.translate("Shortcuts", "Restore from trash")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Queue"),
            (
                ("Return", QCoreApplication.translate("Shortcuts", "Show its images")),
                ("Ctrl+Up, Ctrl+Down", QCoreApplication.translate("Shortcuts", "Move up, move down")),
                ("Ctrl+Home", QCoreApplication.translate("Shortcuts", "Move to front")),
                ("Ctrl+Backspace", QCoreApplication.translate("Shortcuts", "Cancel")),
                ("Ctrl+R", QCoreApplication.translate("Shortcuts", "Retry")),
                ("Ctrl+D", QCoreApplication.translate("Shortcuts", "Duplicate")),
                ("F2", QCoreApplication.translate("Shortcuts", "Load settings in Create")),
                ("Ctrl+O", QCoreApplication.translate("Shortcuts", "Open the output folder")),
                ("Del", QCoreApplication.translate("Shortcuts", "Remove")),
            ),
        ),
        (
            QCoreApplication.translate("Shortcuts", "Models"),
            (("Return", QCoreApplication.translate("Shortcuts", "Use in Create")),),
        ),
    )


class ShortcutsDialog(QDialog):
    """Lists the shortcuts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Shortcuts"))
        content = QWidget()
        content.setProperty("role", "form")
        self._fill(QGridLayout(content))
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(content)
        scroll.setAccessibleName(self.tr("Keyboard shortcuts"))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(scroll, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Close"))
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
    """The shortcut in the system's own notation."""
    return ", ".join(
        QKeySequence(one).toString(QKeySequence.SequenceFormat.NativeText) or one for one in sequence.split(", ")
    )
