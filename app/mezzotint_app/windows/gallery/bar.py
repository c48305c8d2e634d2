"""The bar above the gallery: search, filters, sort order and thumbnail size."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QSlider, QToolButton, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.gallery.gallery import STARS, GalleryModel
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.icon_button import icon_button

SMALLEST, LARGEST = 96, 384  # device-independent pixels of an image's side


class GalleryBar(QFrame):
    """Has a control for every part of the query."""

    side_changed = Signal(int)
    details_toggled = Signal(bool)
    boards_toggled = Signal(bool)

    def __init__(
        self, model: GalleryModel, side: int, *, details: bool, boards: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._model = model
        self.search = QLineEdit()
        self.models = QComboBox()
        self.stars = QComboBox()
        self.order = QComboBox()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.details = icon_button("info", self.tr("Details"), checkable=True)
        self.boards = icon_button("board", self.tr("Boards"), checkable=True)
        self._fill(side, details=details)
        self.boards.setChecked(boards)
        _name(self.boards, self.tr("Boards"), self.tr("Show boards (Ctrl+B)"))
        self._build()
        self._connect()
        self._show_query()
        self._show_models()

    def _fill(self, side: int, *, details: bool) -> None:
        self.search.setPlaceholderText(self.tr("Search prompts"))
        self.search.setClearButtonEnabled(True)
        go = self.search.addAction(icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        go.triggered.connect(self._model.search_now)
        names = (self.tr("Clear search"), self.tr("Search"))
        for button, name in zip(self.search.findChildren(QToolButton), names, strict=False):
            _name(button, name, name)
        _name(
            self.search,
            self.tr("Search"),
            self.tr(
                "Find images whose prompt, model or file name contains all of these words; also tag:sea, "
                'board:"My trip", model:xl, stars:3, and -tag:sea for those without (Ctrl+F)'
            ),
        )
        _name(self.models, self.tr("Model"), self.tr("Show only images of this model"))
        self.stars.addItem(self.tr("Any rating"), 0)
        for number in range(1, STARS + 1):
            self.stars.addItem(
                self.tr("%n or more stars", "", number) if number < STARS else self.tr("5 stars"), number
            )
        _name(self.stars, self.tr("Stars"), self.tr("Show only images with at least this many stars"))
        for text, order in (
            (self.tr("Newest first"), "newest"),
            (self.tr("Oldest first"), "oldest"),
            (self.tr("Best rated first"), "best"),
        ):
            self.order.addItem(text, order)
        _name(self.order, self.tr("Sort order"), self.tr("Sort order of the images"))
        self.slider.setRange(SMALLEST, LARGEST)
        self.slider.setSingleStep(16)
        self.slider.setPageStep(64)
        self.slider.setValue(side)
        self.slider.setFixedSize(120, self.details.height())
        _name(self.slider, self.tr("Thumbnail size"), self.tr("Thumbnail size (Ctrl+Plus, Ctrl+Minus)"))
        self.details.setChecked(details)
        _name(self.details, self.tr("Details"), self.tr("Show image details (Ctrl+I)"))

    def _build(self) -> None:
        self.search.setMinimumWidth(200)
        self.search.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.models.setMaximumWidth(220)
        self.models.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.order.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        filters = FlowLayout()
        for part in (self.models, self.stars, self.order, self.slider):
            filters.addWidget(part)
        row.addWidget(self.boards, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.search, 3, Qt.AlignmentFlag.AlignTop)
        row.addLayout(filters, 4)
        row.addWidget(self.details, 0, Qt.AlignmentFlag.AlignTop)

    def _connect(self) -> None:
        model = self._model
        self.search.textChanged.connect(model.search)
        self.search.returnPressed.connect(model.search_now)
        self.models.currentIndexChanged.connect(lambda _row: model.narrow(model=self.models.currentData()))
        self.stars.currentIndexChanged.connect(lambda _row: model.narrow(rating=self.stars.currentData()))
        self.order.currentIndexChanged.connect(lambda _row: model.narrow(order=self.order.currentData()))
        self.slider.valueChanged.connect(self.side_changed)
        self.details.toggled.connect(self.details_toggled)
        self.boards.toggled.connect(self.boards_toggled)
        model.query_changed.connect(self._show_query)
        model.models_changed.connect(self._show_models)

    def _show_query(self) -> None:
        query = self._model.query()
        blocked = [QSignalBlocker(part) for part in (self.search, self.models, self.stars, self.order)]
        if self.search.text().strip() != query.search:
            self.search.setText(query.search)
        self.models.setCurrentIndex(max(0, self.models.findData(query.model)))
        self.stars.setCurrentIndex(max(0, self.stars.findData(query.rating)))
        similar = self.order.findData("similar")
        if query.order == "similar" and similar < 0:  # only chosen by an image's menu
            self.order.addItem(self.tr("Most similar first"), "similar")
        elif query.order != "similar" and similar >= 0:
            self.order.removeItem(similar)
        self.order.setCurrentIndex(max(0, self.order.findData(query.order)))
        del blocked

    def _show_models(self) -> None:
        chosen = self._model.query().model
        names = list(self._model.models())
        if chosen is not None and chosen not in names:
            names.append(chosen)
        blocked = QSignalBlocker(self.models)
        self.models.clear()
        self.models.addItem(self.tr("All models"), None)
        for name in names:
            self.models.addItem(name or self.tr("Unknown model"), name)
        self.models.setCurrentIndex(max(0, self.models.findData(chosen)))
        del blocked


def _name(widget: QWidget, name: str, tooltip: str) -> None:
    widget.setAccessibleName(name)
    widget.setToolTip(tooltip)
