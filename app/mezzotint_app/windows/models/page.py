"""The Models page: the installed models, their memory needs on this machine, and actions."""

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QSplitter,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.resources import icon, icon_in
from mezzotint_app.viewmodel.models.cards import ModelCards
from mezzotint_app.viewmodel.models.filter import ModelsFilter
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.viewmodel.models.table import ID_ROLE, NAME, ModelsTable
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.widgets.form_layout import tabbed
from mezzotint_app.widgets.inputs.choice_box import ChoiceBox
from mezzotint_app.widgets.job_line import JobLine
from mezzotint_app.widgets.notice_bar import NoticeBar
from mezzotint_app.windows.models.details import ModelDetails
from mezzotint_app.windows.models.lora_browser import LoraBrowser, choices_of

_WIDTHS = (210, 125, 115, 80, 150, 110)  # initial column widths in pixels


class ModelsPage(QWidget):
    """A table, the details of one model, and the running jobs."""

    use_asked = Signal(str)  # generate images with this model
    get_asked = Signal()
    quantize_asked = Signal(str)
    places_asked = Signal()
    reveal_asked = Signal(str)  # a path
    lora_asked = Signal(object)  # ModelCard: use this LoRA
    picture_asked = Signal(object, str)  # ModelCard, and the id of its model; empty for a LoRA

    def __init__(
        self, library: ModelLibrary, cards: ModelCards, thumbnails: Thumbnails, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._library, self._cards = library, cards
        self._table_model = ModelsTable(library, self)
        self._sorted = ModelsFilter(library, cards, thumbnails, self)
        self._sorted.setSourceModel(self._table_model)
        self.loras = LoraBrowser(cards, thumbnails, "loras-page")
        self._lines: dict[int, JobLine] = {}
        self._jobs = QVBoxLayout()
        self._jobs.setSpacing(8)
        self.details = ModelDetails(library, cards, thumbnails)
        self._notice = NoticeBar("warning", "warning", closable=True)
        self._noticed: tuple[str, ...] = ()
        self._looked_at: str | None = None  # the model shown in the details; reloading the list loses the current row
        self._build()
        self._connect()
        self._select_first()

    def focus_first(self) -> None:
        """Give the focus to the list."""
        self._table.setFocus()

    def sizeHint(self) -> QSize:  # noqa: N802, D102
        return QSize(960, 640)

    def current(self) -> str | None:
        """The id of the selected model."""
        index = self._table.currentIndex()
        return index.data(ID_ROLE) if index.isValid() else None

    def select(self, identity: str) -> None:
        """Select a model, or do so as soon as it is listed."""
        self._looked_at = identity
        row = self._table_model.row_of(identity)
        if row is not None:
            self._table.setCurrentIndex(self._sorted.mapFromSource(self._table_model.index(row, NAME)))

    def add_folder(self) -> None:
        """Let the user choose a folder to add."""
        folder = QFileDialog.getExistingDirectory(self, self.tr("A model folder, or a ComfyUI or A1111 installation"))
        if folder:
            self._library.add_folder(folder)

    # ---- setup

    def _build(self) -> None:
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._bar())
        below = QVBoxLayout()
        below.setContentsMargins(16, 12, 16, 16)
        below.setSpacing(8)
        below.addWidget(self._notice)
        below.addLayout(self._jobs)
        page.addLayout(below, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self._make_table())
        split.addWidget(self.details)
        split.setStretchFactor(0, 1)
        split.setSizes([720, 320])
        split.setObjectName("models")
        split.setChildrenCollapsible(False)
        table = QWidget()
        column = QVBoxLayout(table)
        column.setContentsMargins(0, 8, 0, 0)
        column.addLayout(self._filters())
        column.addWidget(split, 1)
        self.tabs = QTabWidget()
        self.tabs.addTab(table, self.tr("Models"))
        self.tabs.addTab(self.loras, self.tr("LoRAs"))
        self.tabs.currentChanged.connect(self._show_tab)
        below.addWidget(tabbed(self.tabs, self.tr("Models and LoRAs")), 1)

    def _filters(self) -> QHBoxLayout:
        self._filter = QLineEdit()
        self._filter.setPlaceholderText(self.tr("Find models"))
        self._filter.setAccessibleName(self.tr("Find models"))
        self._filter.setToolTip(self.tr("Show models with this in their name, tags or trigger words"))
        self._filter.setClearButtonEnabled(True)
        self.family = ChoiceBox(self.tr("Family"), self.tr("Only models of this family"))
        self.tag = ChoiceBox(self.tr("Tag"), self.tr("Only models with this tag"))
        row = QHBoxLayout()
        row.addWidget(self._filter, 2)
        row.addWidget(self.family, 1)
        row.addWidget(self.tag, 1)
        self._show_choices()
        return row

    def _show_choices(self) -> None:
        for box, every, named in (
            (self.family, self.tr("All families"), self._sorted.families()),
            (self.tag, self.tr("All tags"), self._sorted.tags()),
        ):
            value = box.value() if box.value() in named else ""
            box.show_choices(choices_of(every, named), value)

    def _show_only(self) -> None:
        family, tag = str(self.family.value() or ""), str(self.tag.value() or "")
        self._sorted.show_only(text=self._filter.text(), family=family, tag=tag)

    def _show_tab(self, tab: int) -> None:
        if tab == 1 and not self._cards.loras_known:
            self._cards.refresh_loras()

    def _rescan(self) -> None:
        self._library.refresh()
        if self._cards.loras_known:
            self._cards.refresh_loras()

    def _bar(self) -> QFrame:
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        row.addStretch(1)
        self.get_button = self._button(
            "download",
            self.tr("Download a model…"),
            self.tr("Choose from a list, search Hugging Face, or enter a model"),
            "primary",
        )
        self.add_button = self._button(
            "folder",
            self.tr("Add folder…"),
            self.tr("List the models in a folder, or in a ComfyUI or A1111 installation; nothing is copied"),
        )
        self.places_button = self._button(
            "layers",
            self.tr("Folders…"),
            self.tr("Model folders, and models removed from the list"),
        )
        self.refresh_button = self._button("retry", self.tr("Rescan"), self.tr("Search all folders again"))
        for button in (self.get_button, self.add_button, self.places_button, self.refresh_button):
            row.addWidget(button)
        return bar

    def _button(self, name: str, text: str, tip: str, role: str = "") -> QPushButton:
        button = QPushButton(icon_in(name, "accent_text") if role == "primary" else icon(name), text)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        if role:
            button.setProperty("role", role)
        return button

    def _make_table(self) -> QTableView:
        self._table = QTableView()
        self._table.setModel(self._sorted)
        self._table.setAccessibleName(self.tr("Models on this machine"))
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setTabKeyNavigation(False)
        self._table.setSortingEnabled(True)
        self._table.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
        self._table.setShowGrid(False)
        self._table.setWordWrap(False)
        self._table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._table.verticalHeader().hide()
        self._table.verticalHeader().setDefaultSectionSize(32)
        header = self._table.horizontalHeader()
        header.setObjectName("models table")
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        for column, width in enumerate(_WIDTHS):
            self._table.setColumnWidth(column, max(width, header.sectionSizeHint(column)))
        return self._table

    def _connect(self) -> None:
        self._filter.textChanged.connect(lambda _text: self._show_only())
        for box in (self.family, self.tag):
            box.chosen.connect(lambda _value: self._show_only())
        self._cards.changed.connect(lambda _path: self._show_choices())
        self._cards.message.connect(self._show_message)
        self.loras.use_asked.connect(self.lora_asked)
        self.loras.picture_asked.connect(lambda card: self.picture_asked.emit(card, ""))
        self.details.picture_asked.connect(self.picture_asked)
        self.get_button.clicked.connect(self.get_asked)
        self.add_button.clicked.connect(self.add_folder)
        self.places_button.clicked.connect(self.places_asked)
        self.refresh_button.clicked.connect(self._rescan)
        self._table.selectionModel().currentRowChanged.connect(self._look_at)
        self._table.doubleClicked.connect(self._use)
        self._table.activated.connect(self._use)
        self._library.job_changed.connect(self._show_job)
        self._library.message.connect(self._show_message)
        self._library.added.connect(self.select)
        self._library.changed.connect(self._refreshed)
        self.details.use_asked.connect(self.use_asked)
        self.details.quantize_asked.connect(self.quantize_asked)
        self.details.reveal_asked.connect(self.reveal_asked)

    # ---- updates

    def message(self) -> str:
        """The message above the list."""
        return self._notice.text()

    def _refreshed(self) -> None:
        self._show_choices()
        messages = tuple(one for one in (self._library.unlisted, *self._library.notices) if one)
        if messages != self._noticed:  # only once, as the user may have closed the notice
            self._noticed = messages
            self._show_message("\n".join(messages))
        if self._looked_at is not None and self.current() != self._looked_at:
            self.select(self._looked_at)
        if self.current() is None:
            self._select_first()
        self.details.show_model(self.current())

    def _select_first(self) -> None:
        if self._sorted.rowCount():
            self._table.setCurrentIndex(self._sorted.index(0, NAME))

    def _look_at(self, index: QModelIndex) -> None:
        self._looked_at = index.data(ID_ROLE) or self._looked_at
        self.details.show_model(index.data(ID_ROLE))

    def _use(self, index: QModelIndex) -> None:
        model = self._library.model(index.data(ID_ROLE))
        if model is not None and model.family:
            self.use_asked.emit(model.id)

    def _show_message(self, message: str) -> None:
        self._notice.show_text(message)

    def _show_job(self, call: int) -> None:
        wanted = {job.call: job for job in self._library.jobs()}
        for gone in self._lines.keys() - wanted.keys():
            self._lines.pop(gone).deleteLater()
        if call not in wanted:
            return
        if call not in self._lines:
            line = self._lines[call] = JobLine()
            line.cancel_asked.connect(lambda: self._library.cancel(call))
            line.retry_asked.connect(lambda: self._library.retry(call))
            line.dismiss_asked.connect(lambda: self._library.dismiss(call))
            self._jobs.addWidget(line)
        self._lines[call].show_job(wanted[call])
