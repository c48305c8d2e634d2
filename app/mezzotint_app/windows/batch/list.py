"""The batches started here, newest first."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QStackedLayout, QVBoxLayout, QWidget

from mezzotint.batch_protocol import SHEET_NAME
from mezzotint_app.viewmodel.batch.batch import BatchModel
from mezzotint_app.viewmodel.batch.failures import BatchFailures
from mezzotint_app.widgets.batch_card import BatchCard
from mezzotint_app.widgets.confirm import confirm
from mezzotint_app.widgets.empty_state import EmptyState
from mezzotint_app.widgets.form_layout import scrolled


class BatchList(QWidget):
    """Shows a card for each batch."""

    grid_asked = Signal(str)  # path of the image
    folder_asked = Signal(str)
    log_asked = Signal(str, tuple)  # title, lines

    def __init__(self, model: BatchModel) -> None:
        super().__init__()
        self._model = model
        self._cards: dict[str, BatchCard] = {}
        self._failures: dict[str, tuple[BatchFailures, int]] = {}  # each with the failure count it was loaded for
        self.empty = EmptyState("batch")
        self._build()
        batches = model.batches
        batches.changed.connect(self._show_all)
        batches.batch_changed.connect(self._show_one)
        model.changed.connect(self._show_each)  # the gallery's folders may have changed
        self._show_all()

    def card(self, identity: str) -> BatchCard | None:
        """The card of a batch, or None."""
        return self._cards.get(identity)

    def cards(self) -> list[BatchCard]:
        """The cards from top to bottom."""
        return [self._cards[batch.known.id] for batch in self._model.batches.all() if batch.known.id in self._cards]

    def _build(self) -> None:
        inside = QWidget()
        inside.setProperty("role", "form")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(16, 12, 16, 16)
        self._column.setSpacing(12)
        self._column.addStretch(1)
        self._scroll = scrolled(inside)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._scroll)
        self._stack.addWidget(self.empty)
        self.empty.show_words(
            self.tr("No batches yet"),
            self.tr(
                "Choose an image folder or enter prompts on the left, check the preview, and start. A batch "
                "resumes where it stopped, even after the computer was restarted."
            ),
        )

    def _show_all(self) -> None:
        batches = self._model.batches.all()
        wanted = {batch.known.id for batch in batches}
        for gone in self._cards.keys() - wanted:
            card = self._cards.pop(gone)
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
            self._failures.pop(gone, None)
        for place, batch in enumerate(batches):
            card = self._cards.get(batch.known.id) or self._make_card(batch.known.id)
            if self._column.indexOf(card) != place:
                self._column.insertWidget(place, card)
            self._show_one(batch.known.id)
        self._stack.setCurrentIndex(0 if batches else 1)

    def _show_each(self) -> None:
        for identity in self._cards:
            self._show_one(identity)

    def _show_one(self, identity: str) -> None:
        batch, card = self._model.batches.get(identity), self._cards.get(identity)
        if batch is None or card is None:
            return
        batches = self._model.batches
        waiting = batches.words_of_waiting(identity) if batch.stage == "waiting" else ""
        in_gallery = self._model.is_in_gallery(batch.known.folder)
        card.show_batch(batch, waiting, in_gallery=in_gallery, has_log=bool(batches.log(identity)))
        if identity in self._failures and self._failures[identity][1] != batch.failed:
            model = self._failures[identity][0]
            self._failures[identity] = (model, batch.failed)
            model.refresh()
            if not batch.failed:
                self._toggle_failures(identity, False)

    def _make_card(self, identity: str) -> BatchCard:
        card = self._cards[identity] = BatchCard()
        batches = self._model.batches
        card.stop_asked.connect(lambda: batches.stop(identity))
        card.stop_now_asked.connect(lambda: batches.stop(identity, now=True))
        card.resume_asked.connect(lambda: batches.resume(identity))
        card.retry_asked.connect(lambda: batches.resume(identity, retry_failed=True))
        card.grid_asked.connect(
            self._with_folder(identity, lambda folder: self.grid_asked.emit(str(Path(folder) / SHEET_NAME)))
        )
        card.folder_asked.connect(self._with_folder(identity, self.folder_asked.emit))
        card.gallery_asked.connect(self._with_folder(identity, self._model.show_in_gallery))
        card.log_asked.connect(lambda: self._ask_log(identity))
        card.remove_asked.connect(lambda: self._remove(identity))
        card.failures_asked.connect(lambda shown: self._toggle_failures(identity, shown))
        return card

    def _with_folder(self, identity: str, then: Callable[[str], object]) -> Callable[[], None]:
        def do() -> None:
            batch = self._model.batches.get(identity)
            if batch is not None:
                then(batch.known.folder)

        return do

    def _ask_log(self, identity: str) -> None:
        batch = self._model.batches.get(identity)
        if batch is not None:
            self.log_asked.emit(batch.known.title, self._model.batches.log(identity))

    def _toggle_failures(self, identity: str, shown: bool) -> None:
        card, batch = self._cards.get(identity), self._model.batches.get(identity)
        if card is None or batch is None:
            return
        if not shown:
            self._failures.pop(identity, None)
            card.show_failures(None)
            return
        model = BatchFailures(self._model.librarian, batch.known.folder, card)
        self._failures[identity] = (model, batch.failed)
        card.show_failures(model)

    def _remove(self, identity: str) -> None:
        batch = self._model.batches.get(identity)
        if batch is None:
            return
        confirm(
            self,
            self.tr("Remove from list"),
            self.tr(
                "The images of this batch are kept. To resume it later, start a batch with the same output folder."
            ),
            self.tr("Remove"),
            lambda _do_not_ask: self._model.batches.remove(identity),
        )
