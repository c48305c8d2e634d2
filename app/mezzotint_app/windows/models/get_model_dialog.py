"""Download a model from the list, by Hugging Face id or by link. Nothing is downloaded without being asked for."""

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import KnownModel, Offer
from mezzotint.protocol import HubModel
from mezzotint_app.amounts import bytes_text
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.models.get_model import GetModel
from mezzotint_app.viewmodel.models.hub_search import HubSearchModel
from mezzotint_app.widgets.labels import plain_label, sentence
from mezzotint_app.windows.models.model_choices import ModelChoices


class GetModelDialog(QDialog):
    """A list, a field for other models, and the offer that is shown before anything is downloaded."""

    begun = Signal(int)  # the job's number

    def __init__(
        self, get: GetModel, hub: HubSearchModel, vram_bytes: int | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Download a model"))
        self._get, self._hub = get, hub
        self._make_parts()
        self._build()
        self._connect()
        self._show()
        get.load(vram_bytes)

    # ---- setup

    def _make_parts(self) -> None:
        self.choices = ModelChoices(self._get, self._hub)
        self.list = self.choices.list
        self.source = QLineEdit()
        self.source.setPlaceholderText(self.tr("owner/name, or https://…"))
        self.source.setAccessibleName(self.tr("Hugging Face model or link"))
        self.source.setToolTip(self.tr("An id such as stabilityai/sdxl-turbo, or a link to a .safetensors file"))
        self.token = QLineEdit()
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText(self.tr("only for gated models"))
        self.token.setAccessibleName(self.tr("Access token"))
        self.token.setToolTip(self.tr("A Hugging Face access token; used for this download and not stored"))
        self.look_button = QPushButton(icon("search"), self.tr("Check"))
        self.look_button.setToolTip(self.tr("Shows size and licence; downloads nothing yet"))
        self.about = QFormLayout()
        self.about.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self.about.setHorizontalSpacing(12)
        self.about.setVerticalSpacing(8)
        self.state = plain_label(wrap=True, role="muted")

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self.choices)
        split.addWidget(self._right())
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 1)
        column.addWidget(split, 1)
        column.addWidget(self._buttons())
        self.resize(880, 560)

    def _right(self) -> QWidget:
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(plain_label(self.tr("Hugging Face model or link"), role="heading"))
        row = QHBoxLayout()
        row.addWidget(self.source, 1)
        row.addWidget(self.look_button)
        column.addLayout(row)
        column.addWidget(plain_label(self.tr("Access token"), role="muted"))
        column.addWidget(self.token)
        content = QWidget()
        content.setProperty("role", "form")
        content.setLayout(self.about)
        self.about.setContentsMargins(0, 8, 8, 0)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(content)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setAccessibleName(self.tr("About this model"))
        column.addWidget(scroll, 1)
        column.addWidget(self.state)
        return right

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        self.get_button = buttons.addButton(self.tr("Download"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.get_button.setProperty("role", "primary")
        self.get_button.setToolTip(self.tr("Downloads in the background; you can stop it at any time"))
        close = buttons.addButton(self.tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)
        close.setToolTip(self.tr("Close without downloading"))
        buttons.accepted.connect(self._begin)
        buttons.rejected.connect(self.reject)
        return buttons

    def _connect(self) -> None:
        self._get.changed.connect(self._changed)
        self.source.textChanged.connect(self._get.choose)
        self.source.returnPressed.connect(self._get.look)
        self.token.textChanged.connect(self._get.set_token)
        self.look_button.clicked.connect(self._get.look)
        self.look_button.setAutoDefault(False)
        self.choices.chosen.connect(self.source.setText)

    # ---- updates

    def _changed(self) -> None:
        self.choices.show_models()
        self._show()

    def _begin(self) -> None:
        if self._get.can_get():
            self.begun.emit(self._get.get())
            self.accept()

    def _show(self) -> None:
        while self.about.rowCount():
            self.about.removeRow(0)
        known = next((one for one in self._get.known if one.id == self._get.source), None)
        found = next((one for one in self._hub.found if one.id == self._get.source), None)
        if known is not None:
            self._show_known(known)
        elif found is not None:
            self._show_found(found)
        if self._get.offer is not None:
            self._show_offer(self._get.offer)
        self.get_button.setEnabled(self._get.can_get())
        self.look_button.setEnabled(bool(self._get.source) and not self._get.looking)
        self._show_state()

    def _show_state(self) -> None:
        problem = self._get.problem or (self._get.offer.problem if self._get.offer is not None else "") or ""
        if self._get.looking:
            text = self.tr("Checking…")
        elif problem:
            text = sentence(problem)
        elif self._get.offer is None:
            text = self.tr("“Check” shows size and licence; only “Download” downloads.")
        else:
            text = ""
        self.state.setProperty("role", "error" if problem else "muted")
        self.state.style().polish(self.state)
        self.state.setText(text)

    def _show_known(self, known: KnownModel) -> None:
        self._row(self.tr("Description"), known.good_at)
        self._row(self.tr("Licence"), f"{known.licence}\n{known.licence_url}")
        self._show_access(known.gated)
        self._row(self.tr("On this machine"), self.choices.fits(known))

    def _show_found(self, found: HubModel) -> None:
        self._row(self.tr("Family"), self.choices.family(found))
        self._row(self.tr("Licence"), found.licence)
        if found.downloads is not None:
            self._row(self.tr("Downloads"), QLocale().toString(found.downloads))
        if found.bytes is not None:
            self._row(
                self.tr("Repository"), self.tr("{size}, of which a part is needed").format(size=bytes_text(found.bytes))
            )
        self._show_access(found.gated)

    def _show_access(self, gated: bool) -> None:
        if gated:
            self._row(self.tr("Access"), self.tr("Gated: accept the licence on Hugging Face, then enter a token here."))

    def _show_offer(self, offer: Offer) -> None:
        if offer.licence:
            self._row(self.tr("Its own licence"), offer.licence)
        self._row(self.tr("Size"), self._size(offer))
        self._row(self.tr("Free disk space"), bytes_text(offer.free_bytes))
        self._row(self.tr("Installed as"), offer.target)
        shown = "\n".join(offer.files[:40])
        rest = len(offer.files) - 40
        self._row(self.tr("Files"), shown + (self.tr("\nand {n} more").format(n=rest) if rest > 0 else ""))

    def _size(self, offer: Offer) -> str:
        if offer.bytes_left < offer.bytes:
            return self.tr("{all}, {left} left to download").format(
                all=bytes_text(offer.bytes), left=bytes_text(offer.bytes_left)
            )
        return bytes_text(offer.bytes)

    def _row(self, name: str, text: str) -> None:
        value = plain_label(text, wrap=True, selectable=True)
        value.setAccessibleName(f"{name}: {text}")
        label = plain_label(name, role="muted")
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.about.addRow(label, value)
