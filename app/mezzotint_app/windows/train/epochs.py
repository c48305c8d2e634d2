"""The epochs of a training with their samples, below those of the model without the LoRA; one is chosen to be used."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from mezzotint.training_protocol import TrainingRunInfo
from mezzotint_app import theme
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey, Thumbnails, side_for
from mezzotint_app.viewmodel.train.epochs import EpochRow, rows_of
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.images.thumbnail_label import ThumbnailLabel
from mezzotint_app.widgets.labels import plain_label

_SIDE = 128  # device-independent pixels of a sample
_VIEWER = "epochs"


class EpochList(QWidget):
    """One card for each epoch, the newest first, and one for the base model."""

    use_asked = Signal(str)  # path of a LoRA
    open_asked = Signal(list, int)  # all samples, and the index of the one to show

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._rows: tuple[EpochRow, ...] = ()
        self._cards: list[EpochCard] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        thumbnails.changed.connect(self._thumbnail_changed)

    def show_run(self, info: TrainingRunInfo | None) -> None:
        """Show the epochs of a run; unchanged ones keep their cards."""
        rows = () if info is None else rows_of(info)
        if rows == self._rows:
            return
        self._rows = rows
        while len(self._cards) > len(rows):
            self._cards.pop().deleteLater()
        while len(self._cards) < len(rows):
            self._add_card()
        for card, row in zip(self._cards, rows, strict=True):
            card.show_row(row, self._thumbnails)
        self.want_thumbnails()

    def cards(self) -> "Sequence[EpochCard]":
        """The cards from top to bottom."""
        return self._cards

    def want_thumbnails(self) -> None:
        """Request the samples' thumbnails."""
        side = side_for(_SIDE * self.devicePixelRatioF())
        keys = [ThumbnailKey(path=path, side=side) for row in self._rows for path in row.samples]
        self._thumbnails.show(keys, _VIEWER)

    def _add_card(self) -> None:
        card = EpochCard()
        card.use_asked.connect(self.use_asked)
        card.sample_asked.connect(self._open)
        self._cards.append(card)
        self._column.addWidget(card)

    def _open(self, path: str) -> None:
        paths = [one for row in self._rows for one in row.samples]
        if path in paths:
            self.open_asked.emit(paths, paths.index(path))

    def _thumbnail_changed(self, path: str) -> None:
        for card, row in zip(self._cards, self._rows, strict=True):
            if path in row.samples:
                card.show_row(row, self._thumbnails)


class EpochCard(QFrame):
    """An epoch: its title, samples, and a button to use it."""

    use_asked = Signal(str)
    sample_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._path = ""
        self._samples: list[SampleLabel] = []
        self.title = plain_label(role="heading", wrap=True)
        self.hint = plain_label(role="muted")
        self.use = QPushButton(icon("create"), self.tr("Use"))
        self.use.setToolTip(self.tr("Add this LoRA to the Create page"))
        self.use.clicked.connect(lambda: self.use_asked.emit(self._path))
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.title, 1)
        head.addWidget(self.hint)
        head.addWidget(self.use)
        self._images = QWidget()
        self._flow = FlowLayout(self._images)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 10)
        layout.setSpacing(6)
        layout.addLayout(head)
        layout.addWidget(self._images)

    def show_row(self, row: EpochRow, thumbnails: Thumbnails) -> None:
        """Show an epoch."""
        self._path = row.path
        self.title.setText(row.title)
        self.hint.setText(self.tr("lowest validation loss") if row.is_best else "")
        self.hint.setVisible(row.is_best)
        self.use.setVisible(bool(row.path))
        self.use.setAccessibleName(self.tr("Use: {epoch}").format(epoch=row.title))
        self._images.setVisible(bool(row.samples))
        while len(self._samples) > len(row.samples):
            self._samples.pop().deleteLater()
        while len(self._samples) < len(row.samples):
            self._add_sample()
        side = side_for(_SIDE * self.devicePixelRatioF())
        for label, path, prompt in zip(self._samples, row.samples, row.prompts, strict=True):
            label.show_sample(path, prompt)
            label.show_image(thumbnails.thumbnail(ThumbnailKey(path=path, side=side)))

    def samples(self) -> "Sequence[SampleLabel]":
        """The samples' thumbnails."""
        return self._samples

    def _add_sample(self) -> None:
        label = SampleLabel()
        label.opened.connect(self.sample_asked)
        self._samples.append(label)
        self._flow.addWidget(label)


class SampleLabel(ThumbnailLabel):
    """A sample, which a click, Space or Enter shows at full size."""

    opened = Signal(str)

    def __init__(self) -> None:
        super().__init__(QSize(_SIDE, _SIDE))
        self._path = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.installEventFilter(self)

    def show_sample(self, path: str, prompt: str) -> None:
        """Show which sample it is."""
        self._path = path
        self.setAccessibleName(self.tr("Sample: {prompt}").format(prompt=prompt))
        self.setToolTip(plain_tooltip(prompt))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, D102
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(theme.colour("focus"), 3))
            painter.drawRect(self.rect().adjusted(1, 1, -2, -2))
            painter.end()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802, D102
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        is_key = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in keys
        if is_key or event.type() == QEvent.Type.MouseButtonRelease:
            self.opened.emit(self._path)
            return True
        return super().eventFilter(watched, event)
