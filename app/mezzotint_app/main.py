"""Builds the window and runs it."""

import platform
import sys

from PySide6 import __version__ as qt_version
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QVBoxLayout, QWidget

from mezzotint import __version__

NAME = "Mezzotint"
EXPLANATION = "Pictures from words, made on your own machine."
FOR_NOW = (
    "This window does not make pictures yet. For now, use a terminal:\n\n"
    '    mezzotint generate "a red house by the sea at dusk"\n\n'
    "`mezzotint generate --help` lists every option, `mezzotint models list` your models."
)


class MainWindow(QMainWindow):
    """Says what Mezzotint is, and how to make pictures until the window can."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle(NAME)
        name = _label(NAME)
        font = name.font()
        font.setPointSizeF(2 * font.pointSizeF())
        name.setFont(font)
        layout = QVBoxLayout()
        layout.setContentsMargins(32, 32, 32, 32)
        layout.setSpacing(16)
        for label in (name, _label(EXPLANATION), _label(FOR_NOW), _label(versions())):
            layout.addWidget(label)
        layout.addStretch()
        content = QWidget()
        content.setLayout(layout)
        self.setCentralWidget(content)
        self.resize(640, 360)


def versions() -> str:
    """What runs here, in one line."""
    return f"{NAME} {__version__}, Python {platform.python_version()}, Qt {qt_version}"


def _label(text: str) -> QLabel:
    """Text as it is, never as markup; it can be selected and copied, with the keyboard too."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    label.setWordWrap(True)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label


def main() -> int:
    """Open the window; returns when it is closed."""
    application = QApplication(sys.argv)
    application.setApplicationName(NAME)
    application.setApplicationVersion(__version__)
    window = MainWindow()
    window.show()
    return application.exec()
