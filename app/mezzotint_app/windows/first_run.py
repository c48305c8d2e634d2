"""The welcome page: one click generates an image with the bundled model, or installs the engine for it."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget

from mezzotint_app.resources import icon, icon_in
from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.widgets.icon_button import text_button
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.windows.engine_setup.panel import EnginePanel

_MARK = QSize(96, 96)
_WIDTH = 640  # maximum width of the column in pixels


class FirstRun(QWidget):
    """A welcome text, a ready-made prompt and a button; without an engine, what installs it."""

    make_asked = Signal(str)  # the prompt
    add_folder_asked = Signal()
    get_asked = Signal()
    skipped = Signal()

    def __init__(self, setup: EngineSetup | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.engine = EnginePanel(setup) if setup is not None and setup.lacks_engine() else None
        self.prompt = QLineEdit(self.tr("a red house by the sea at dusk"))
        self.prompt.setAccessibleName(self.tr("Prompt"))
        self.prompt.setToolTip(self.tr("Describe the image; the small bundled model knows simple scenes"))
        self.prompt.setProperty("tall", True)
        self.make_button = text_button(
            "create", self.tr("Generate my first image"), self.tr("Uses the small bundled model")
        )
        self.make_button.setProperty("role", "primary")
        self.make_button.setIcon(icon_in("create", "accent_text"))
        self.make_button.setProperty("tall", True)
        self.folder_button = text_button(
            "folder",
            self.tr("Add my models…"),
            self.tr("A model folder, or a ComfyUI or A1111 installation; nothing is copied"),
        )
        self.get_button = text_button(
            "download", self.tr("Download a model…"), self.tr("From a list, or from Hugging Face")
        )
        self.skip_button = text_button("right", self.tr("Skip"), self.tr("Opens the Create page"))
        self._build()
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(True)  # Enter presses it, as in a dialog
        self.prompt.returnPressed.connect(self._make)
        self.make_button.clicked.connect(self._make)
        self.folder_button.clicked.connect(self.add_folder_asked)
        self.get_button.clicked.connect(self.get_asked)
        self.skip_button.clicked.connect(self.skipped)

    def focus_first(self) -> None:
        """Give the focus to what is to be done first."""
        if self.engine is not None:
            self.engine.focus_first()
        else:
            self.prompt.setFocus()

    def _build(self) -> None:
        mark = QLabel()
        mark.setPixmap(icon("mezzotint").pixmap(_MARK, self.devicePixelRatioF()))
        mark.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout()
        column.setSpacing(12)
        column.addStretch(2)
        column.addWidget(mark)
        title = plain_label(self.tr("Images from text, generated on your own computer"), role="title", wrap=True)
        words = plain_label(self._words(), role="muted", wrap=True)
        for label in (title, words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(label)
        column.addSpacing(12)
        for part in (self.prompt, self.make_button) if self.engine is None else (self.engine,):
            column.addWidget(part)
        column.addSpacing(24)
        column.addWidget(self._later())
        column.addStretch(3)
        content = QWidget()
        content.setProperty("role", "form")
        row = QHBoxLayout(content)
        row.setContentsMargins(24, 24, 24, 24)
        row.addStretch(1)
        holder = QWidget()
        holder.setMaximumWidth(_WIDTH)
        holder.setLayout(column)
        row.addWidget(holder, 8)
        row.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(content)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)

    def _words(self) -> str:
        if self.engine is None:
            return self.tr("No account, no cloud: everything stays on this machine. Start with a sentence.")
        return self.tr(
            "What computes the images is installed once, for your graphics card. Everything else works meanwhile."
        )

    def _later(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        words = self.tr(
            "The bundled model is small and generates simple landscapes. For anything else, use one of your own "
            "models, or download one."
        )
        label = plain_label(words, role="muted", wrap=True)
        label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(label)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch()
        for button in (self.folder_button, self.get_button, self.skip_button):
            row.addWidget(button)
        row.addStretch()
        column.addLayout(row)
        return holder

    def _make(self) -> None:
        prompt = self.prompt.text().strip()
        if prompt:
            self.make_asked.emit(prompt)
