"""The dialog with all styles: choose, save, import and remove them."""

from typing import cast

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import Style
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.styles import value_text
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey, Thumbnails
from mezzotint_app.widgets.icon_button import text_button
from mezzotint_app.widgets.inputs.plain_box import PlainBox
from mezzotint_app.widgets.labels import ElidedLabel, plain_label

_STYLE = int(Qt.ItemDataRole.UserRole)
_PICTURE = 40  # pixels
_SIDE = 128  # of thumbnails
_VIEWER = "styles"


class StylesDialog(QDialog):
    """The list on the left, what the selected style sets on the right."""

    save_asked = Signal()

    def __init__(self, model: CreateModel, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Styles"))
        self._model, self._styles, self._thumbnails = model, model.styles, thumbnails
        self._make_list()
        self._make_buttons()
        self._title = ElidedLabel()
        self._title.setProperty("role", "heading")
        self.prompt = PlainBox(self.tr("Prompt"))
        self.negative = PlainBox(self.tr("Negative prompt"))
        self._settings = plain_label(role="muted", wrap=True, selectable=True)
        self._message = plain_label(role="warning", wrap=True)
        self._build()
        self._styles.changed.connect(self._show)
        self._styles.message.connect(lambda text: self._show_message(text))
        self._styles.saved.connect(self.select)
        self._styles.imported.connect(self._show_imported)
        model.changed.connect(self._show_current)
        thumbnails.changed.connect(self._show_picture)
        self._show()
        self._styles.refresh()

    def select(self, name: str) -> None:
        """Select a style."""
        for item in self._items():
            if self._style_of(item).name == name:
                self.list.setCurrentItem(item)

    def current(self) -> Style | None:
        """The selected style."""
        item = self.list.currentItem()
        return None if item is None or item.isHidden() else self._style_of(item)

    def done(self, result: int) -> None:
        """Close, and ask for no more pictures."""
        self._thumbnails.show((), _VIEWER)
        super().done(result)

    # ---- setup

    def _make_list(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Find styles"))
        self.search.setAccessibleName(self.tr("Find styles"))
        self.search.setToolTip(self.tr("Show styles whose name or text contains this"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Styles"))
        self.list.setIconSize(QSize(_PICTURE, _PICTURE))
        self.list.currentItemChanged.connect(lambda *_: self._show_current())
        self.list.itemActivated.connect(lambda _item: self._use())

    def _make_buttons(self) -> None:
        self.use_button = QPushButton()
        self.use_button.setProperty("role", "primary")
        self.use_button.clicked.connect(self._use)
        self.save_button = text_button(
            "save", self.tr("Save settings…"), self.tr("Save the settings of the Create page as a style")
        )
        self.import_button = text_button(
            "open",
            self.tr("Import…"),
            self.tr("Add the styles of a styles.csv of A1111, or a .json file of Fooocus' folder sdxl_styles"),
        )
        self.remove_button = text_button("trash", self.tr("Delete"), self.tr("Delete this style for good"))
        for button in (self.save_button, self.import_button, self.remove_button):
            button.setAutoDefault(False)
        self.use_button.setDefault(True)  # by Return in the search
        self.save_button.clicked.connect(self.save_asked)
        self.import_button.clicked.connect(self.choose_file)
        self.remove_button.clicked.connect(self._remove)

    def _build(self) -> None:
        left = QVBoxLayout()
        left.addWidget(self.search)
        left.addWidget(self.list, 1)
        row = QHBoxLayout()
        row.addWidget(self.save_button)
        row.addWidget(self.import_button)
        left.addLayout(row)
        right = QVBoxLayout()
        for part in (
            self._title,
            plain_label(self.tr("Prompt"), role="muted"),
            self.prompt,
            plain_label(self.tr("Negative prompt"), role="muted"),
            self.negative,
            self._settings,
        ):
            right.addWidget(part)
        right.addStretch(1)
        right.addWidget(self._message)
        actions = QHBoxLayout()
        actions.addWidget(self.use_button)
        actions.addWidget(self.remove_button)
        actions.addStretch(1)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.button(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Close"))
        close.rejected.connect(self.reject)
        actions.addWidget(close)
        right.addLayout(actions)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(24, 16, 24, 16)
        whole.setSpacing(16)
        whole.addLayout(left, 1)
        whole.addLayout(right, 1)
        self.resize(760, 520)

    # ---- display

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(row) for row in range(self.list.count())]

    def _style_of(self, item: QListWidgetItem) -> Style:
        return cast(Style, item.data(_STYLE))

    def _show(self) -> None:
        name = current.name if (current := self.current()) is not None else None
        self.list.clear()
        for style in self._styles.all():
            item = QListWidgetItem(style.name)
            item.setToolTip(plain_tooltip(style.prompt or style.name))
            item.setData(_STYLE, style)
            self.list.addItem(item)
        pictures = [ThumbnailKey(path=one.picture, side=_SIDE) for one in self._styles.all() if one.picture]
        self._thumbnails.show(pictures, _VIEWER)
        for one in pictures:
            self._show_picture(one.path)
        self._filter(self.search.text())
        self.select(name or "")
        if self.current() is None and self.list.count():
            self.list.setCurrentRow(0)
        self._show_message("\n".join(self._styles.problems()))
        self._show_current()

    def _show_picture(self, path: str) -> None:
        image = self._thumbnails.thumbnail(ThumbnailKey(path=path, side=_SIDE))
        for item in self._items():
            if image is not None and self._style_of(item).picture == path:
                item.setIcon(QIcon(QPixmap.fromImage(image)))

    def _filter(self, words: str) -> None:
        for item in self._items():
            style = self._style_of(item)
            item.setHidden(words.casefold() not in f"{style.name}\n{style.prompt}".casefold())
        shown = [one for one in self._items() if not one.isHidden()]
        if shown and self.current() is None:
            self.list.setCurrentItem(shown[0])
        self._show_current()

    def _show_current(self) -> None:
        style = self.current()
        used = style is not None and self._styles.is_in_use(style.name)
        self._title.setText("" if style is None else style.name)
        self.prompt.show_text("" if style is None else style.prompt)
        self.negative.show_text("" if style is None else style.negative)
        settings = () if style is None else style.settings.items()
        self._settings.setText(", ".join(f"{name}: {value_text(value)}" for name, value in settings))
        text = self.tr("Remove from prompt") if used else self.tr("Use")
        tip = self.tr("Add it to the prompt, and its settings to the page")
        self.use_button.setText(text)
        self.use_button.setAccessibleName(text)
        self.use_button.setToolTip(self.tr("Its settings stay on the page") if used else tip)
        self.use_button.setEnabled(style is not None)
        self.remove_button.setEnabled(style is not None and style.own)

    def _show_message(self, text: str, role: str = "warning") -> None:
        self._message.setProperty("role", role)
        self._message.style().polish(self._message)
        self._message.setText(text)

    def _show_imported(self, name: str, text: str) -> None:
        self.select(name)
        self._show_message(text, "muted")

    # ---- actions

    def choose_file(self) -> QFileDialog:
        """Let the user choose a file to import."""
        dialog = QFileDialog(self, self.tr("Import styles"))
        dialog.setNameFilters([self.tr("Styles") + " (*.csv *.json)"])
        dialog.fileSelected.connect(self._styles.import_file)
        dialog.open()
        return dialog

    def _use(self) -> None:
        style = self.current()
        if style is None:
            return
        if self._styles.is_in_use(style.name):
            self._styles.stop_using(style.name)
        else:
            self._styles.use(style, self._model.request(styled=False))

    def _remove(self) -> None:
        style = self.current()
        if style is not None and style.own:
            self._styles.remove(style.name)
