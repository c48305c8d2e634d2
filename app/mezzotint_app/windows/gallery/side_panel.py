"""The panel beside the grid that shows how the current image was generated."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFormLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import GalleryItem
from mezzotint.protocol import ImageMetadata
from mezzotint_app.amounts import bytes_text
from mezzotint_app.viewmodel.dates import moment
from mezzotint_app.viewmodel.dropped.settings_text import shown_settings
from mezzotint_app.viewmodel.gallery.details import GalleryDetails
from mezzotint_app.widgets.images.star_row import StarRow
from mezzotint_app.widgets.inputs.plain_box import PlainBox
from mezzotint_app.widgets.labels import ElidedLabel, plain_label
from mezzotint_app.windows.queue.details_pane import action_button


class GallerySidePanel(QScrollArea):
    """Prompt and settings as plain text, the rating, and actions."""

    rated = Signal(int)

    def __init__(self, details: GalleryDetails, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._details = details
        self._form = QWidget()
        self._name = ElidedLabel()
        self._about = plain_label(role="muted", wrap=True)
        self.stars = StarRow()
        self.prompt = PlainBox(self.tr("Prompt"))
        self.negative = PlainBox(self.tr("Negative prompt"))
        self._negative_title = plain_label(self.tr("Negative prompt"), role="heading")
        self._values = QFormLayout()
        self._problem = plain_label(role="error", wrap=True, selectable=True)
        self._build(actions)
        self.stars.chosen.connect(self.rated)
        details.changed.connect(self._show)
        self._show()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for a prompt."""
        return QSize(300, 480)

    def _build(self, actions: list[QAction]) -> None:
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(240)
        self._form.setProperty("role", "form")
        column = QVBoxLayout(self._form)
        column.setContentsMargins(16, 4, 12, 12)
        column.setSpacing(8)
        buttons = QVBoxLayout()
        buttons.setSpacing(0)
        for action in actions:
            buttons.addWidget(action_button(action))
        self._name.setProperty("role", "heading")
        self._values.setHorizontalSpacing(12)
        self._values.setVerticalSpacing(4)
        self._values.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for part in (self._name, self._about, self.stars, plain_label(self.tr("Prompt"), role="heading"), self.prompt):
            column.addWidget(part)
        column.addWidget(self._negative_title)
        column.addWidget(self.negative)
        column.addLayout(self._values)
        column.addWidget(self._problem)
        column.addLayout(buttons)
        column.addStretch(1)
        self.setWidget(self._form)

    def _show(self) -> None:
        item, metadata = self._details.item(), self._details.metadata()
        self._form.setVisible(item is not None)
        if item is None:
            return
        self._name.setText(item.path.replace("\\", "/").rsplit("/", 1)[-1])
        self._about.setText(f"{item.width} × {item.height} · {bytes_text(item.bytes)} · {moment(item.made)}")
        self.stars.show_stars(item.rating)
        prompt = metadata.prompt if metadata is not None and metadata.prompt else item.prompt
        self.prompt.show_text(prompt)
        negative = (metadata.negative_prompt if metadata is not None else None) or ""
        self.negative.show_text(negative)
        self.negative.setVisible(bool(negative))
        self._negative_title.setVisible(bool(negative))
        self._show_values(item, metadata)
        self._problem.setText(self._details.problem())
        self._problem.setVisible(bool(self._details.problem()))

    def _show_values(self, item: GalleryItem, metadata: ImageMetadata | None) -> None:
        if metadata is not None:
            shown = shown_settings(metadata)
        else:
            known = [(self.tr("Model"), item.model), (self.tr("Seed"), "" if item.seed is None else str(item.seed))]
            shown = [(name, value) for name, value in known if value]
        named = ((self.tr("Boards"), item.boards), (self.tr("Tags"), item.tags))
        shown += [(name, ", ".join(labels)) for name, labels in named if labels]
        while self._values.rowCount():
            self._values.removeRow(0)
        for name, value in shown:
            label = plain_label(value[:400], wrap=True, selectable=True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setAccessibleName(f"{name}: {value[:400]}")
            self._values.addRow(plain_label(name, role="muted"), label)
