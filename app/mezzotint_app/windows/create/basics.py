"""Model, size, number of images and seed on the Create page."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from mezzotint.request_protocol import MAX_COUNT
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.sizes import multiple_of, own_size, presets
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.seed_box import SeedBox
from mezzotint_app.widgets.inputs.size_picker import SizePicker
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus


class CreateBasics(QWidget):
    """The basic settings."""

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._model = model
        self.model_box = ChoiceBox(self.tr("Model"), self.tr("The model to generate with"))
        self.size_picker = SizePicker()
        self.count = QSpinBox()
        self.count.setRange(1, MAX_COUNT)
        self.count.setAccessibleName(self.tr("Number of images"))
        self.count.setToolTip(self.tr("How many images to generate; their seeds count up"))
        self.count.setKeyboardTracking(False)
        ignore_wheel_without_focus(self.count)
        indent(self.count)
        self.seed = SeedBox()
        self._fields = {
            "model": Field(self.tr("Model"), self.model_box),
            "size": Field(self.tr("Size"), self.size_picker, resettable=True),
            "count": Field(self.tr("Images"), self.count),
            "seed": Field(self.tr("Seed"), self.seed),
        }
        self._build()
        self._connect()
        self.show_model()

    def fields(self) -> dict[str, Field]:
        """The fields by the names used in problems."""
        return self._fields

    def show_model(self) -> None:
        """Show the current settings."""
        chosen = self._model.chosen
        settings, info = chosen.settings(), chosen.info()
        self.model_box.show_choices(self._models(), chosen.model())
        is_own = settings.width is None and settings.height is None
        self.size_picker.show_size(
            chosen.size(), presets(info), own_size(info), is_own=is_own, multiple=multiple_of(info)
        )
        self.size_picker.show_lock(settings.aspect_locked)
        self._fields["size"].set_is_default(is_own)
        self.size_picker.setEnabled(not self._model.images.keeps_size())
        self._fields["size"].set_hint(self._size_hint(is_own))
        self.count.blockSignals(True)
        self.count.setValue(settings.count)
        self.count.blockSignals(False)
        self.seed.show_seed(self._model.seed.value(), can_reuse=self._model.seed.can_reuse())

    def _size_hint(self, is_own: bool) -> str:
        if self._model.images.keeps_size():
            return self.tr("The init image decides the size.")
        if is_own and self._model.references.items() and not self._model.images.path():
            return self.tr("The first reference image decides the size.")
        return ""

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(self._fields["count"], 1, top)
        row.addWidget(self._fields["seed"], 2, top)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self._fields["model"])
        layout.addWidget(self._fields["size"])
        layout.addLayout(row)

    def _connect(self) -> None:
        chosen, seed = self._model.chosen, self._model.seed
        self.model_box.chosen.connect(chosen.set_model)
        self.size_picker.default_chosen.connect(self._own_size)
        self.size_picker.preset_chosen.connect(chosen.set_size)
        self.size_picker.width_edited.connect(chosen.set_width)
        self.size_picker.height_edited.connect(chosen.set_height)
        self.size_picker.locked.connect(chosen.lock_aspect)
        self.size_picker.swapped.connect(chosen.swap_sides)
        self._fields["size"].reset.connect(self._own_size)
        self.count.valueChanged.connect(lambda count: chosen.change(count=count))
        self.seed.typed.connect(self._seed_typed)
        self.seed.fixed.connect(seed.fix)
        self.seed.rolled.connect(seed.roll)
        self.seed.reused.connect(seed.reuse)
        self._model.preview.results_changed.connect(self.show_model)

    def _own_size(self) -> None:
        self._model.chosen.reset(["width", "height"])

    def _seed_typed(self, seed: int | None) -> None:
        if seed is None:
            self._model.seed.fix(False)
        else:
            self._model.seed.set(seed)

    def _models(self) -> list[Choice]:
        """The usable models, and the selected one; other files are only listed on the Models page."""
        models, chosen = self._model.models, self._model.chosen.model()
        return [
            Choice(value=one.id, name=one.id, problem=models.problem_of(one) or "")
            for one in models.all()
            if one.problem is None or one.id == chosen
        ]
