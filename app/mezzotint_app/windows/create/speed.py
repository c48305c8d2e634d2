"""Settings on the Create page that trade fidelity for speed."""

from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from mezzotint.option import declared
from mezzotint.protocol import Sampling
from mezzotint.values.sizes import AUTO_TILE
from mezzotint.values.speed import AUTO_CACHE, DENSITIES, SHRINK_UNTIL, TOKEN_RATIOS
from mezzotint_app.amounts import number_text
from mezzotint_app.viewmodel.create.checks import honours_clip_skip
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.option_texts import label, tooltip
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field

OPTIONS = {name: one for name, one in declared(Sampling).items() if one.label and one.group == "performance"}
_FACTORS = (1.5, 2.0, 3.0)
_THRESHOLDS = (0.05, 0.1, 0.2)
_TILES = (512, 768, 1024)
_LINEAR = ("sana", "sana-sprint")  # families whose attention is linear


class CreateSpeed(QWidget):
    """A choice for each of these options, of those that the model has."""

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._model = model
        self.controls = {name: ChoiceBox(label(one), tooltip(one)) for name, one in OPTIONS.items()}
        self._fields = {name: Field(label(OPTIONS[name]), control) for name, control in self.controls.items()}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for name, field in self._fields.items():
            layout.addWidget(field)
            self.controls[name].chosen.connect(lambda value, name=name: model.chosen.change(**{name: value}))
        self.show_model()

    def fields(self) -> dict[str, Field]:
        """The fields by the names of the settings."""
        return self._fields

    def show_model(self) -> None:
        """Show the current settings."""
        settings, usable = self._model.chosen.settings(), self._usable()
        for name, choices in self._choices().items():
            value = getattr(settings, name)
            self.controls[name].show_choices([*choices, *_other(name, value, choices)], value)
            self._fields[name].setVisible(name in usable or value is not None)

    def summary(self) -> str:
        """A short summary of the settings."""
        settings = self._model.chosen.settings()
        return ", ".join(label(one) for name, one in OPTIONS.items() if getattr(settings, name) is not None)

    def _usable(self) -> tuple[str, ...]:
        """The options that the model has."""
        info = self._model.chosen.info()
        if honours_clip_skip(info):  # as all U-Nets do
            return "tokens", "sparse_attention", "deep_shrink", "step_cache", "denoise_tile"
        if info is not None and info.family in _LINEAR:
            return "step_cache", "denoise_tile"
        return "tokens", "sparse_attention", "step_cache", "denoise_tile"

    def _choices(self) -> dict[str, list[Choice]]:
        off = Choice(value=None, name=self.tr("Off"))
        methods = {
            "todo": self.tr("Fewer keys and values (ToDo)"),
            "merge": self.tr("Similar tokens merged (ToMe)"),
        }
        kinds = {
            "pooled": self.tr("Similar tiles, means of others"),
            "window": self.tr("Nearby tiles"),
            "topk": self.tr("Similar tiles only"),
            "tiles": self.tr("Large tiles by themselves (HyperTile)"),
        }
        half = self.tr("Sides divided by {factor}")
        change = self.tr("Change below {share} %")
        pixels = self.tr("{side} pixels")
        return {
            "tokens": [off, *(Choice(value=(one, TOKEN_RATIOS[one]), name=methods[one]) for one in TOKEN_RATIOS)],
            "sparse_attention": [off, *(Choice(value=(one, None), name=kinds[one]) for one in DENSITIES)],
            "deep_shrink": [
                off,
                *(Choice(value=(one, SHRINK_UNTIL), name=half.format(factor=number_text(one))) for one in _FACTORS),
            ],
            "step_cache": [
                off,
                Choice(value=AUTO_CACHE, name=self.tr("Automatic")),
                *(Choice(value=one, name=change.format(share=round(100 * one))) for one in _THRESHOLDS),
            ],
            "denoise_tile": [
                off,
                Choice(value=AUTO_TILE, name=self.tr("Automatic")),
                *(Choice(value=one, name=pixels.format(side=one)) for one in _TILES),
            ],
        }


def _other(name: str, value: Any, choices: list[Choice]) -> list[Choice]:  # noqa: ANN401  of each option
    """A value that is none of the choices, such as an image's: a known kind with its number, or as it is written."""
    if any(one.value == value for one in choices):
        return []
    written = " ".join(OPTIONS[name].takes.to_arguments(value))
    for one in choices:
        if isinstance(value, tuple) and isinstance(one.value, tuple) and one.value[0] == value[0]:
            written = f"{one.name}: {number_text(value[1])}"
    return [Choice(value=value, name=written)]
