"""What is known of a model or LoRA: its picture, and texts that can be changed."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from mezzotint.library_protocol import ModelCard
from mezzotint_app.viewmodel.models.cards import ModelCards
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.icon_button import text_button
from mezzotint_app.widgets.images.thumbnail_label import ThumbnailLabel
from mezzotint_app.widgets.inputs.plain_box import PlainBox
from mezzotint_app.widgets.labels import plain_label

_PICTURE = QSize(112, 112)
_IMAGES = ("*.png", "*.jpg", "*.jpeg", "*.webp")


class CardPanel(QWidget):
    """Shows the card of a path; changes are stored with Save, and when another is shown."""

    picture_asked = Signal(object)  # ModelCard: generate its picture

    def __init__(self, cards: ModelCards, thumbnails: Thumbnails, viewer: str) -> None:
        """`viewer`: a name for its picture's requests."""
        super().__init__()
        self._cards, self._thumbnails, self._viewer = cards, thumbnails, viewer
        self._card: ModelCard | None = None
        self._path: str | None = None
        self.picture = ThumbnailLabel(_PICTURE)
        self.description = PlainBox(self.tr("Description"))
        self.triggers = self._line(
            self.tr("Trigger words"), self.tr("Words that a LoRA was trained with, separated by commas")
        )
        self.tags = self._line(self.tr("Tags"), self.tr("For finding it, separated by commas"))
        self.notes = QPlainTextEdit()
        self.notes.setTabChangesFocus(True)
        self.notes.setFixedHeight(64)
        self.notes.setAccessibleName(self.tr("Notes"))
        self.notes.setToolTip(self.tr("Your own notes"))
        self.notes.textChanged.connect(self._edited)
        self._make_buttons()
        self._build()
        cards.changed.connect(self._changed)
        thumbnails.changed.connect(self._show_picture)
        self.show_path(None)

    def show_path(self, path: str | None) -> None:
        """Show the card of a file or folder; changes to the last one are stored."""
        if path != self._path:
            if self.save_button.isEnabled():
                self.save()
            self._path, self._card = path, None
        self._show(None if path is None else self._cards.card(path))

    # ---- setup

    def _line(self, name: str, tip: str) -> QLineEdit:
        edit = QLineEdit()
        edit.setAccessibleName(name)
        edit.setToolTip(tip)
        edit.textEdited.connect(self._edited)
        edit.returnPressed.connect(self.save)
        return edit

    def _make_buttons(self) -> None:
        self.save_button = text_button("save", self.tr("Save"), self.tr("Save trigger words, tags and notes"))
        self.make_button = text_button(
            "image", self.tr("Generate thumbnail"), self.tr("Generate one small image, which becomes its thumbnail")
        )
        self.choose_button = text_button(
            "open", self.tr("Choose thumbnail…"), self.tr("Use a small copy of an image as its thumbnail")
        )
        self.save_button.clicked.connect(self.save)
        self.make_button.clicked.connect(self._make)
        self.choose_button.clicked.connect(self.choose)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        top = QHBoxLayout()
        top.addWidget(self.picture)
        top.addStretch(1)
        column.addLayout(top)
        buttons = FlowLayout(spacing=8)
        for button in (self.make_button, self.choose_button):
            buttons.addWidget(button)
        column.addLayout(buttons)
        column.addWidget(self.description)
        for name, widget in (
            (self.tr("Trigger words"), self.triggers),
            (self.tr("Tags"), self.tags),
            (self.tr("Notes"), self.notes),
        ):
            column.addWidget(plain_label(name, role="muted"))
            column.addWidget(widget)
        row = QHBoxLayout()
        row.addWidget(self.save_button)
        row.addStretch(1)
        column.addLayout(row)

    # ---- display

    def _changed(self, path: str) -> None:
        if path == self._path:
            self.show_path(path)

    def _show(self, card: ModelCard | None) -> None:
        before, self._card = self._card, card
        self.setEnabled(card is not None)
        if before is None or card is None or _texts(before) != _texts(card):
            self.triggers.setText("" if card is None else ", ".join(card.trigger_words))
            self.tags.setText("" if card is None else ", ".join(card.tags))
            self.notes.setPlainText("" if card is None else card.notes)
        title = "" if card is None else card.title
        self.description.show_text("\n".join(filter(None, (title, "" if card is None else card.description))))
        self.description.setVisible(bool(self.description.toPlainText()))
        key = None if card is None else self._cards.picture_key(card)
        self._thumbnails.show(() if key is None else (key,), self._viewer)
        self._show_picture()
        self._edited()

    def _show_picture(self, _path: str = "") -> None:
        key = None if self._card is None else self._cards.picture_key(self._card)
        self.picture.show_image(None if key is None else self._thumbnails.thumbnail(key))

    def _edited(self, *_: object) -> None:
        self.save_button.setEnabled(self._card is not None and self._entered() != _texts(self._card))

    def _entered(self) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        return _split(self.triggers.text()), _split(self.tags.text()), self.notes.toPlainText().strip()

    # ---- actions

    def save(self) -> None:
        """Store what was entered."""
        if self._card is not None:
            triggers, tags, notes = self._entered()
            self._cards.save(self._card.path, tags=tags, trigger_words=triggers, notes=notes)

    def choose(self) -> QFileDialog:
        """Let the user choose an image."""
        dialog = QFileDialog(self, self.tr("Choose a thumbnail"))
        dialog.setNameFilters([self.tr("Images") + f" ({' '.join(_IMAGES)})"])
        dialog.fileSelected.connect(self._chosen)
        dialog.open()
        return dialog

    def _chosen(self, path: str) -> None:
        if self._card is not None:
            self._cards.set_picture(self._card.path, path)

    def _make(self) -> None:
        if self._card is not None:
            self.picture_asked.emit(self._card)


def _texts(card: ModelCard) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    return card.trigger_words, card.tags, card.notes


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for part in text.split(",") if (one := " ".join(part.split()))))
