"""Compares a dropped image's settings with the current ones, to apply all, the prompt or the seed, or use the image."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.processes.service import Failure
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.dropped.described_request import file_name
from mezzotint_app.viewmodel.dropped.differences import Difference, DifferencesModel, What
from mezzotint_app.viewmodel.dropped.settings_text import program_name
from mezzotint_app.viewmodel.foreign_text import in_full, in_lines, in_one_line, plain_tooltip
from mezzotint_app.viewmodel.pixels import PixelLoader
from mezzotint_app.widgets.images.thumbnail_label import ThumbnailLabel
from mezzotint_app.widgets.labels import ElidedLabel, plain_label

_THUMBNAIL = QSize(112, 112)
_CELL, _TIP, _NAME, _CHECK = 160, 600, 200, 60  # characters that are shown


class DifferencesDialog(QDialog):
    """Shows a DifferencesModel; `loader` provides the thumbnail."""

    def __init__(
        self, model: DifferencesModel, loader: PixelLoader | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model, self._loader = model, loader
        self._shown_path = ""
        self._loading = 0
        self._broken = ""  # why the image cannot be shown
        self.setWindowTitle(self.tr("Image settings"))
        self.resize(760, 560)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addLayout(self._build_head())
        layout.addWidget(self._build_middle(), 1)
        layout.addWidget(self._build_nearest())
        layout.addLayout(self._build_end())
        model.changed.connect(self._show)
        self._show()

    # ---- setup

    def _build_head(self) -> QHBoxLayout:
        self._thumbnail = ThumbnailLabel(_THUMBNAIL)
        self._thumbnail.setAccessibleName(self.tr("Thumbnail"))
        self._name = ElidedLabel()
        self._name.setProperty("role", "heading")
        self._facts = plain_label(role="muted", wrap=True)
        self._note = plain_label(role="warning", wrap=True)
        self._use = QPushButton(icon("image"), self.tr("Use as init image"))
        self._use.setToolTip(self.tr("Ignore the settings and use this as the init image"))
        self._use.setAutoDefault(False)
        self._use.clicked.connect(self._use_image)
        words = QVBoxLayout()
        words.setSpacing(6)
        for label in (self._name, self._facts, self._note):
            words.addWidget(label)
        words.addStretch()
        words.addWidget(self._use, 0, Qt.AlignmentFlag.AlignLeft)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(self._thumbnail, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        return head

    def _build_middle(self) -> QSplitter:
        self._table = QTableWidget(0, 3)
        self._table.setAccessibleName(self.tr("Differences from the current settings"))
        self._table.setHorizontalHeaderLabels([self.tr("Setting"), self.tr("Now"), self.tr("In the image")])
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._table.setTabKeyNavigation(False)
        self._table.setShowGrid(False)
        self._table.setWordWrap(False)
        self._table.verticalHeader().hide()
        header = self._table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self._table.currentCellChanged.connect(lambda row, *_: self._show_whole(row))
        middle = QSplitter(Qt.Orientation.Vertical)
        middle.setChildrenCollapsible(False)
        middle.addWidget(self._table)
        middle.addWidget(self._build_whole())
        middle.setStretchFactor(0, 3)
        middle.setStretchFactor(1, 2)
        return middle

    def _build_whole(self) -> QWidget:
        self._now, self._there = _reader(self.tr("Now, full text")), _reader(self.tr("In the image, full text"))
        whole = QWidget()
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(12)
        for words, reader in ((self.tr("Now"), self._now), (self.tr("In the image"), self._there)):
            column = QVBoxLayout()
            column.setSpacing(4)
            column.addWidget(plain_label(words, role="muted"))
            column.addWidget(reader)
            row.addLayout(column, 1)
        return whole

    def _build_nearest(self) -> QWidget:
        self._missing = QWidget()
        self._missing_words = plain_label(role="warning", wrap=True)
        self._take_nearest = QCheckBox()
        self._take_nearest.setToolTip(self.tr("The same settings give a different image with another model"))
        layout = QVBoxLayout(self._missing)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._missing_words)
        layout.addWidget(self._take_nearest)
        return self._missing

    def _build_end(self) -> QHBoxLayout:
        self._all = self._button(self.tr("Apply all"), self.tr("Apply everything in the list"), "all")
        self._all.setProperty("role", "primary")
        self._all.setDefault(True)
        self._prompt = self._button(
            self.tr("Prompt only"), self.tr("Apply only the prompt and the negative prompt"), "prompt"
        )
        self._seed = self._button(self.tr("Seed only"), self.tr("Apply only the seed"), "seed")
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setToolTip(self.tr("Keep the current settings (Esc)"))
        cancel.clicked.connect(self.reject)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch()
        for button in (self._all, self._prompt, self._seed, cancel):
            row.addWidget(button)
        return row

    def _button(self, words: str, tooltip: str, what: What) -> QPushButton:
        button = QPushButton(words)
        button.setToolTip(tooltip)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: self._apply(what))
        return button

    # ---- display

    def _show(self) -> None:
        model = self._model
        self._name.setText(in_one_line(file_name(model.path()), _NAME))
        self._facts.setText(self._facts_words())
        note = "\n".join(part for part in (model.problem() or model.note(), self._broken) if part)
        self._note.setText(in_lines(note, _TIP))
        self._note.setVisible(bool(note))
        self._use.setEnabled(bool(model.path()) and model.state() != "failed" and not self._broken)
        self._all.setEnabled(model.says_anything())
        self._prompt.setEnabled(model.says_prompt())
        self._seed.setEnabled(model.says_seed())
        self._show_table(model.found())
        self._show_missing()
        self._show_thumbnail()
        if model.state() != "reading":
            (self._all if self._all.isEnabled() else self._use).setFocus()

    def _facts_words(self) -> str:
        model, metadata = self._model, self._model.metadata()
        if model.state() == "reading":
            return self.tr("Reading metadata…")
        if metadata is None:
            return self.tr("The metadata could not be read.")
        size = self.tr("{0} × {1} pixels").format(metadata.width, metadata.height) if metadata.width else ""
        if not model.says_anything():
            return self.tr("{0}. It has no generation metadata.").format(size or self.tr("An image"))
        program = program_name(metadata.program)
        made = self.tr("Made with {0}.").format(program) if program else ""
        if not model.found():
            made = " ".join((made, self.tr("Its settings are the same as the current ones.")))
        return " ".join(part for part in (made, size) if part)

    def _show_table(self, found: tuple[Difference, ...]) -> None:
        self._table.setRowCount(len(found))
        for row, one in enumerate(found):
            for column, text in enumerate((one.name, one.now, one.there)):
                item = QTableWidgetItem(in_one_line(text, _CELL) or self.tr("(empty)"))
                item.setToolTip(plain_tooltip(in_one_line(text, _TIP)))
                self._table.setItem(row, column, item)
        if found:
            self._table.setCurrentCell(0, 0)
            self._show_whole(0)
        else:
            self._show_whole(-1)

    def _show_whole(self, row: int) -> None:
        found = self._model.found()
        one = found[row] if 0 <= row < len(found) else None
        for reader, text in ((self._now, one.now if one else ""), (self._there, one.there if one else "")):
            shown, left_out = in_full(text)
            if left_out:
                shown += "\n\n" + self.tr("(%n more characters not shown; Apply uses the full text)", "", left_out)
            reader.setPlainText(shown)

    def _show_missing(self) -> None:
        name, near = in_lines(self._model.missing_model(), _CELL), self._model.nearest()
        if not name:
            self._take_nearest.setChecked(False)
        self._missing.setVisible(bool(name))
        self._missing_words.setText(self.tr("The model {0} is not installed.").format(name))
        self._take_nearest.setVisible(near is not None)
        if near is not None:
            words = self.tr("Use the closest match instead: {0}").format(in_one_line(near.id, _CHECK))
            self._take_nearest.setText(words.replace("&", "&&"))
            self._take_nearest.setAccessibleName(words)

    def _show_thumbnail(self) -> None:
        path = self._model.path()
        if path == self._shown_path:
            return
        self._shown_path, self._broken = path, ""
        self._thumbnail.show_image(None)
        if self._loader is not None and path:
            self._loading = self._loader.load(
                path, 2 * _THUMBNAIL.width(), self._thumbnail_is_there, self._is_broken, slot="differences"
            )

    def _thumbnail_is_there(self, image: QImage) -> None:
        self._thumbnail.show_image(image)

    def _is_broken(self, failure: Failure) -> None:
        """The image cannot be shown, but its settings can still be applied."""
        self._broken = self.tr("The image cannot be shown: {0}").format(failure.message)
        self._show()

    # ---- actions

    def done(self, result: int) -> None:
        """Close the dialog and drop a thumbnail that is still loading."""
        if self._loader is not None:
            self._loader.drop(self._loading)
        super().done(result)

    def _apply(self, what: What) -> None:
        self._model.apply(what, with_nearest=self._take_nearest.isChecked())
        self.accept()

    def _use_image(self) -> None:
        self._model.use_image()
        self.accept()


def _reader(name: str) -> QPlainTextEdit:
    reader = QPlainTextEdit()
    reader.setReadOnly(True)
    reader.setTabChangesFocus(True)
    reader.setAccessibleName(name)
    reader.setToolTip(name)
    reader.setMinimumHeight(reader.fontMetrics().lineSpacing() * 3)
    return reader
