"""Details of a model: description, component sizes, memory plan on this machine, and actions."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from mezzotint.protocol import ModelInfo, ModelPart, Plan
from mezzotint_app.amounts import bytes_text, number_text
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.models.cards import ModelCards
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.widgets.icon_button import text_button
from mezzotint_app.widgets.labels import ElidedLabel, plain_label, sentence
from mezzotint_app.windows.models.card_panel import CardPanel
from mezzotint_app.windows.models.part_files_form import PartFilesForm


class ModelDetails(QFrame):
    """Shows a model by its id."""

    use_asked = Signal(str)
    quantize_asked = Signal(str)
    reveal_asked = Signal(str)  # a path
    picture_asked = Signal(object, str)  # ModelCard, and model id

    def __init__(
        self, library: ModelLibrary, cards: ModelCards, thumbnails: Thumbnails, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setMinimumWidth(300)
        self._library = library
        self._id: str | None = None
        self._title = ElidedLabel()
        self._title.setProperty("role", "heading")
        self._text = QFormLayout()
        self._text.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._text.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._text.setHorizontalSpacing(12)
        self.part_files = PartFilesForm(library)
        self.card = CardPanel(cards, thumbnails, "model")
        self.card.picture_asked.connect(lambda card: self._with_id(lambda model: self.picture_asked.emit(card, model)))
        self._build()
        library.details_changed.connect(self._changed)
        library.memory_plan_changed.connect(self._changed)
        library.memory_plans_discarded.connect(lambda: self.show_model(self._id))
        self.show_model(None)

    def show_model(self, identity: str | None) -> None:
        """Show a model, or that none is selected."""
        self._id = identity
        model = self._library.model(identity) if identity else None
        self._title.setText(model.id if model else self.tr("No model selected"))
        for button in self._buttons:
            button.setEnabled(model is not None)
        usable = model is not None and bool(model.family)
        self.use_button.setEnabled(usable)
        self.quantize_button.setEnabled(usable and not (model and model.scheme))
        while self._text.rowCount():
            self._text.removeRow(0)
        if model is not None:
            self._fill(model)
        self.part_files.show_model(None if model is None else model.id)
        self.card.show_path(None if model is None else model.path)
        self.card.make_button.setEnabled(usable)

    # ---- setup

    def _build(self) -> None:
        self._make_buttons()
        content = QWidget()
        content.setProperty("role", "form")
        inside = QVBoxLayout(content)
        inside.setContentsMargins(0, 0, 8, 0)
        inside.setSpacing(8)
        inside.addLayout(self._text)
        inside.addWidget(self.part_files)
        inside.addSpacing(8)
        for button in self._buttons[1:]:
            inside.addWidget(button)
        inside.addSpacing(8)
        inside.addWidget(self.card)
        inside.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(content)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setAccessibleName(self.tr("About this model"))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(self._title)
        column.addWidget(self.use_button)
        column.addWidget(scroll, 1)

    def _make_buttons(self) -> None:
        self.use_button = text_button("create", self.tr("Use in Create"), self.tr("Open Create with this model"))
        self.quantize_button = text_button(
            "shrink",
            self.tr("Quantize…"),
            self.tr("Weights in 8 or 4 bits: less memory, nearly the same images"),
        )
        self.verify_button = text_button(
            "verify", self.tr("Verify files"), self.tr("Compare every file with its checksum")
        )
        self.reveal_button = text_button("open", self.tr("Show in folder"), self.tr("Open the folder of its files"))
        self.remove_button = text_button(
            "remove", self.tr("Remove from list"), self.tr("Removes the model from the list; no file is deleted")
        )
        self.use_button.clicked.connect(lambda: self._with_id(self.use_asked.emit))
        self.quantize_button.clicked.connect(lambda: self._with_id(self.quantize_asked.emit))
        self.verify_button.clicked.connect(lambda: self._with_id(self._library.verify))
        self.reveal_button.clicked.connect(self._reveal)
        self.remove_button.clicked.connect(lambda: self._with_id(self._library.forget))

    @property
    def _buttons(self) -> tuple[QPushButton, ...]:
        return self.use_button, self.quantize_button, self.verify_button, self.reveal_button, self.remove_button

    def _fill(self, model: ModelInfo) -> None:
        if model.problem:
            self._row(self.tr("Cannot be used"), model.problem, "error")
        else:
            self._row(self.tr("Family"), f"{model.family} {model.variant}".strip())
            self._row(self.tr("Precision"), model.scheme or self.tr("full"))
        self._row(self.tr("Size"), bytes_text(model.bytes) if model.bytes else self.tr("unknown"))
        if model.defaults is not None:
            best = self.tr("{width} × {height}, {steps} steps, CFG scale {guidance}")
            self._row(
                self.tr("Recommended"),
                best.format(
                    width=model.defaults.width,
                    height=model.defaults.height,
                    steps=model.defaults.steps,
                    guidance=number_text(model.defaults.guidance_scale),
                ),
            )
        self._row(self.tr("Where"), model.path)
        if model.family:
            self._fill_parts(model)
            self._fill_need(model)

    def _fill_parts(self, model: ModelInfo) -> None:
        details = self._library.details(model.id)
        for part in details.parts if details is not None else ():
            self._row(part.name, self._part_text(part))

    def _part_text(self, part: ModelPart) -> str:
        layers = ", ".join(f"{count} × {precision}" for precision, count in part.layers.items())
        return bytes_text(part.bytes) + (f" ({layers})" if layers else "")

    def _fill_need(self, model: ModelInfo) -> None:
        need = self._library.memory_plan(model.id)
        if need is None:
            self._row(self.tr("On this machine"), self.tr("calculating…"), "muted")
        elif isinstance(need, Failure):
            self._row(self.tr("On this machine"), need.message, "warning")
        elif isinstance(need, Plan):
            self._row(
                self.tr("On this machine"), "\n".join(map(sentence, need.reasons)), "" if need.fits else "warning"
            )

    def _row(self, name: str, text: str, role: str = "") -> None:
        value = plain_label(text, wrap=True, role=role, selectable=True)
        value.setAccessibleName(f"{name}: {text}")
        label = plain_label(name, role="muted")
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._text.addRow(label, value)

    # ---- actions

    def _with_id(self, act: object) -> None:
        if self._id is not None and callable(act):
            act(self._id)

    def _reveal(self) -> None:
        model = self._library.model(self._id) if self._id else None
        if model is not None:
            self.reveal_asked.emit(model.path)

    def _changed(self, identity: str) -> None:
        if identity == self._id:
            self.show_model(identity)
