"""The LoRAs found, with their pictures: found by words, kind of model and tag, and added to the prompt."""

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import ModelCard
from mezzotint_app import theme
from mezzotint_app.amounts import bytes_text
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.models.cards import CardFilter, ModelCards, lora_data
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.widgets.icon_button import text_button
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.labels import ElidedLabel, plain_label
from mezzotint_app.windows.models.card_panel import CardPanel

_PATH = int(Qt.ItemDataRole.UserRole)
_PICTURE = QSize(112, 112)
_CELL = QSize(136, 156)


class LoraBrowser(QWidget):
    """A grid with filters above it, and the selected LoRA beside it."""

    use_asked = Signal(object)  # ModelCard
    picture_asked = Signal(object)  # ModelCard

    def __init__(self, cards: ModelCards, thumbnails: Thumbnails, viewer: str) -> None:
        """`viewer`: a name for the requests of its pictures."""
        super().__init__()
        self._cards, self._thumbnails, self._viewer = cards, thumbnails, viewer
        self._items: dict[str, QListWidgetItem] = {}
        self._make_filters()
        self.list = _Grid(cards)
        self.list.setAccessibleName(self.tr("LoRAs"))
        self.list.currentItemChanged.connect(lambda *_: self._show_current())
        self.list.itemActivated.connect(lambda _item: self._use())
        self.panel = CardPanel(cards, thumbnails, f"{viewer}-panel")
        self.panel.picture_asked.connect(self.picture_asked)
        tip = self.tr("Use it on the Create page, with its trigger words in the prompt")
        self.use_button = text_button("add", self.tr("Add to prompt"), tip)
        self.use_button.clicked.connect(self._use)
        self._title = ElidedLabel()
        self._title.setProperty("role", "heading")
        self._about = plain_label(role="muted", wrap=True)
        self._problem = plain_label(role="error", wrap=True, selectable=True)
        self._empty = plain_label(role="muted", wrap=True)
        self._build()
        cards.listed.connect(self._show)
        cards.changed.connect(self._changed)
        thumbnails.changed.connect(self._show_pictures)
        theme.changes().changed.connect(self._show)
        self._show()

    def current(self) -> ModelCard | None:
        """The card of the selected LoRA."""
        item = self.list.currentItem()
        return None if item is None or item.isHidden() else self._cards.card(cast(str, item.data(_PATH)))

    def filter(self) -> CardFilter:
        """What is searched for."""
        return CardFilter(text=self.search.text(), base=str(self.base.value() or ""), tag=str(self.tag.value() or ""))

    def leave(self) -> None:
        """Ask for no more pictures."""
        self._thumbnails.show((), self._viewer)

    # ---- setup

    def _make_filters(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Find LoRAs"))
        self.search.setAccessibleName(self.tr("Find LoRAs"))
        self.search.setToolTip(self.tr("Show those with this in their name, tags or trigger words"))
        self.search.setClearButtonEnabled(True)
        self.base = ChoiceBox(self.tr("Base model"), self.tr("Only LoRAs for this kind of model"))
        self.tag = ChoiceBox(self.tr("Tag"), self.tr("Only LoRAs with this tag"))
        self.search.textChanged.connect(lambda _text: self._filter())
        self.search.returnPressed.connect(self._use)
        for box in (self.base, self.tag):
            box.chosen.connect(lambda _value: self._filter())

    def _build(self) -> None:
        bar = QHBoxLayout()
        bar.addWidget(self.search, 2)
        bar.addWidget(self.base, 1)
        bar.addWidget(self.tag, 1)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 8, 0)
        column.addLayout(bar)
        column.addWidget(self._empty)
        column.addWidget(self.list, 1)
        content = QWidget()
        content.setProperty("role", "form")
        inside = QVBoxLayout(content)
        inside.setContentsMargins(0, 0, 8, 0)
        for part in (self._about, self._problem, self.panel):
            inside.addWidget(part)
        inside.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(content)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setAccessibleName(self.tr("About this LoRA"))
        right = QFrame()
        right.setProperty("role", "card")
        right.setMinimumWidth(300)
        side = QVBoxLayout(right)
        side.setContentsMargins(16, 16, 16, 16)
        side.addWidget(self._title)
        side.addWidget(self.use_button)
        side.addWidget(scroll, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(left)
        split.addWidget(right)
        split.setStretchFactor(0, 1)
        split.setSizes([720, 320])
        split.setChildrenCollapsible(False)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 8, 0, 0)
        whole.addWidget(split)

    # ---- display

    def _show(self) -> None:
        current = self.current()
        self.list.clear()
        self._items = {}
        for card in self._cards.loras():
            item = QListWidgetItem(_no_picture(), card.name)
            item.setData(_PATH, card.path)
            item.setToolTip(plain_tooltip("\n".join(filter(None, (card.title or card.name, card.base, card.problem)))))
            self._items[card.path] = item
            self.list.addItem(item)
        self._show_choices()
        self._ask_pictures()
        self._filter()
        chosen = self._items.get(current.path) if current is not None else None
        self.list.setCurrentItem(chosen or self.list.item(0))
        self._show_current()

    def _show_choices(self) -> None:
        cards = self._cards.loras()
        for box, every, found in (
            (self.base, self.tr("All base models"), [card.base for card in cards]),
            (self.tag, self.tr("All tags"), [tag for card in cards for tag in card.tags]),
        ):
            named = sorted({one for one in found if one}, key=str.casefold)
            value = box.value() if box.value() in named else ""
            box.show_choices(choices_of(every, named), value)

    def _ask_pictures(self) -> None:
        keys = [self._cards.picture_key(card) for card in self._cards.loras()]
        self._thumbnails.show([key for key in keys if key is not None], self._viewer)
        self._show_pictures()

    def _show_pictures(self, path: str = "") -> None:
        for card in self._cards.loras():
            key = self._cards.picture_key(card)
            if (
                key is not None
                and path in ("", card.picture)
                and (image := self._thumbnails.thumbnail(key)) is not None
            ):
                self._items[card.path].setIcon(QIcon(QPixmap.fromImage(image)))

    def _changed(self, path: str) -> None:
        if path in self._items:
            self._show_choices()
            self._ask_pictures()
            self._filter()
            self._show_current()

    def _filter(self) -> None:
        wanted = self.filter()
        for card in self._cards.loras():
            self._items[card.path].setHidden(not wanted.takes(card))
        shown = [one for one in self._items.values() if not one.isHidden()]
        if shown and self.current() is None:
            self.list.setCurrentItem(shown[0])
        self._empty.setText("" if shown else self._nothing())
        self._empty.setVisible(bool(self._empty.text()))
        self._show_current()

    def _nothing(self) -> str:
        if not self._cards.loras_known:
            return self.tr("Searching for LoRAs…")
        return self.tr("No LoRAs match.") if self._items else self._none()

    def _none(self) -> str:
        return self.tr("No LoRAs yet. Add a folder named loras or Lora, or one that contains such a folder.")

    def _show_current(self) -> None:
        card = self.current()
        self._title.setText("" if card is None else card.name)
        about = () if card is None else (card.base, bytes_text(card.bytes) if card.bytes else "", card.path)
        self._about.setText("\n".join(filter(None, about)))
        self._problem.setText("" if card is None else card.problem)
        self._problem.setVisible(bool(self._problem.text()))
        self.use_button.setEnabled(card is not None and not card.problem)
        self.panel.show_path(None if card is None else card.path)
        self.panel.make_button.setEnabled(self.use_button.isEnabled())

    def _use(self) -> None:
        card = self.current()
        if card is not None and not card.problem:
            self.use_asked.emit(card)


class _Grid(QListWidget):
    """Pictures with names, which can be dragged into the prompt or the list of LoRAs."""

    def __init__(self, cards: ModelCards) -> None:
        super().__init__()
        self._cards = cards
        self.setViewMode(QListWidget.ViewMode.IconMode)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setMovement(QListWidget.Movement.Static)
        self.setIconSize(_PICTURE)
        self.setGridSize(_CELL)
        self.setUniformItemSizes(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setDragEnabled(True)

    def startDrag(self, _actions: Qt.DropAction) -> None:  # noqa: N802  Qt's name
        """Drag a copy: a moved item would leave the list."""
        super().startDrag(Qt.DropAction.CopyAction)

    def mimeData(self, items: Sequence[QListWidgetItem]) -> QMimeData:  # noqa: N802  Qt's name
        """The dragged LoRA."""
        card = self._cards.card(cast(str, items[0].data(_PATH))) if items else None
        return QMimeData() if card is None else lora_data(card)


def _no_picture() -> QIcon:
    """A small drawing in the middle of the room for a picture."""
    room = QPixmap(_PICTURE)
    room.fill(Qt.GlobalColor.transparent)
    painter = QPainter(room)
    icon("image").paint(painter, room.rect().adjusted(36, 36, -36, -36))
    painter.end()
    return QIcon(room)


def choices_of(every: str, named: Sequence[str]) -> list[Choice]:
    """The choice of all, with the value \"\", and those named."""
    return [Choice(value="", name=every), *(Choice(value=one, name=one) for one in named)]
