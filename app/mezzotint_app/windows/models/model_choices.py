"""The models to download from: the recommended ones, or those that a search on the hub found."""

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import KnownModel
from mezzotint.protocol import HubModel
from mezzotint_app.amounts import bytes_text
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.foreign_text import in_one_line, plain_tooltip
from mezzotint_app.viewmodel.models.get_model import GetModel
from mezzotint_app.viewmodel.models.hub_search import HubSearchModel
from mezzotint_app.widgets.labels import plain_label, sentence

_ID = int(Qt.ItemDataRole.UserRole)


class ModelChoices(QWidget):
    """A search field above a list of models."""

    chosen = Signal(str)  # the model's id

    def __init__(self, get: GetModel, hub: HubSearchModel) -> None:
        super().__init__()
        self._get, self._hub = get, hub
        self._listed: tuple[object, ...] | None = None
        self._make_parts()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.addWidget(self.words, 1)
        row.addWidget(self.search_button)
        column.addLayout(row)
        column.addWidget(self.allow)
        column.addWidget(self.title)
        column.addWidget(self.list, 1)
        column.addWidget(self.state)
        self._connect()
        self.show_models()

    def _make_parts(self) -> None:
        self.words = QLineEdit()
        self.words.setMaxLength(100)
        self.words.setPlaceholderText(self.tr("Search Hugging Face by name"))
        self.words.setAccessibleName(self.tr("Search Hugging Face by name"))
        self.words.setToolTip(self.tr("Only these words are sent, when you press Return or “Search”"))
        self.words.setClearButtonEnabled(True)
        self.search_button = QPushButton(icon("search"), self.tr("Search"))
        self.search_button.setToolTip(self.tr("Lists models with these words in their names; downloads nothing"))
        self.search_button.setAutoDefault(False)
        self.allow = QCheckBox(self.tr("Allow searching online"))
        self.allow.setToolTip(self.tr("The words you search for are then sent to Hugging Face"))
        self.title = plain_label(role="heading")
        self.list = QListWidget()
        self.list.setWordWrap(True)
        self.list.setSpacing(2)
        self.state = plain_label(wrap=True, role="muted")

    def _connect(self) -> None:
        self.words.returnPressed.connect(self._search)
        self.words.textChanged.connect(self._typed)
        self.search_button.clicked.connect(self._search)
        self.allow.toggled.connect(self._hub.allow)
        self.allow.clicked.connect(self.words.setFocus)
        self.list.currentItemChanged.connect(self._choose)
        self._hub.changed.connect(self.show_models)

    def _search(self) -> None:
        self._hub.search(self.words.text())

    def _typed(self, words: str) -> None:
        if not words:
            self._hub.clear()

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.chosen.emit(item.data(_ID))

    # ---- updates

    def show_models(self) -> None:
        """Show what was found, or the recommended models."""
        allowed, hub = self._hub.allowed(), self._hub
        self.allow.setChecked(allowed)
        self.words.setEnabled(allowed)
        self.search_button.setEnabled(allowed and not hub.searching)
        title = self.tr("Found on Hugging Face") if hub.has_answer() else self.tr("Recommended models")
        self.title.setText(title)
        self.list.setAccessibleName(title)
        self._show_state()
        models: tuple[object, ...] = hub.found if hub.has_answer() else self._get.known
        if models != self._listed:
            self._listed = models
            self._show_list()

    def _show_state(self) -> None:
        hub, text = self._hub, ""
        if hub.searching:
            text = self.tr("Searching…")
        elif hub.problem:
            text = sentence(hub.problem)
        elif hub.words and not hub.found:
            text = self.tr("No image models with these words in their names; try fewer words")
        self.state.setText(text)
        self.state.setVisible(bool(text))
        self.state.setProperty("role", "error" if hub.problem else "muted")
        self.state.style().polish(self.state)

    def _show_list(self) -> None:
        self.list.clear()
        if self._hub.has_answer():
            for found in self._hub.found:
                self._add(found.id, f"{in_one_line(found.id)}\n{self._short(found)}", found.id)
            return
        for known in self._get.known:
            short = " · ".join((bytes_text(known.bytes), known.licence, self.fits(known)))
            self._add(known.id, f"{known.title}\n{short}", known.good_at)
        if not self._get.source:
            self.list.setCurrentRow(0)

    def _add(self, identity: str, text: str, tip: str) -> None:
        item = QListWidgetItem(text)
        item.setData(_ID, identity)
        item.setToolTip(plain_tooltip(tip))
        self.list.addItem(item)

    def _short(self, found: HubModel) -> str:
        parts = [self.family(found), in_one_line(found.licence, 40)]
        if found.gated:
            parts.append(self.tr("gated"))
        if found.downloads is not None:
            parts.append(self.tr("{n} downloads").format(n=QLocale().toString(found.downloads)))
        return " · ".join(parts)

    def family(self, found: HubModel) -> str:
        """Return the family of a found model, or what is known about it."""
        if found.runs is False:
            return self.tr("not supported")
        return found.family or self.tr("family not stated")

    def fits(self, known: KnownModel) -> str:
        """Return how a recommended model runs on this machine."""
        if not known.runs:
            return self.tr("not supported")
        match known.how_it_runs:
            case "well":
                return self.tr("runs well")
            case "slower":
                return self.tr("runs slower")
            case "not":
                return self.tr("does not fit")
        return self.tr("from {least} of VRAM").format(least=bytes_text(known.smallest_vram_bytes))
