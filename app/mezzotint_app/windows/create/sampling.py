"""Sampling settings on the Create page: a control for every option that has a label."""

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from mezzotint.option import Option, declared
from mezzotint.protocol import Sampling
from mezzotint.values.basic import Integer, Interval, Number
from mezzotint_app.amounts import number_text
from mezzotint_app.viewmodel.create.checks import honours_clip_skip
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.sampler_choices import SAMPLERS, SCHEDULES, shown_name
from mezzotint_app.viewmodel.option_texts import label, tooltip
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.interval_spin import IntervalSpin
from mezzotint_app.widgets.inputs.slider_spin import SliderSpin

OPTIONS = {name: one for name, one in declared(Sampling).items() if one.label and one.group == "sampling"}


class CreateSampling(QWidget):
    """The sampling settings."""

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._model = model
        self.controls = {name: _control(one) for name, one in OPTIONS.items()}
        self._fields = {name: self._field(name, OPTIONS[name], control) for name, control in self.controls.items()}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for field in self._fields.values():
            layout.addWidget(field)
        self.show_model()

    def fields(self) -> dict[str, Field]:
        """The fields by the names of the settings."""
        return self._fields

    def show_model(self) -> None:
        """Show the current settings."""
        settings, own = self._model.chosen.settings(), self._model.chosen.own()
        for name, control in self.controls.items():
            value = getattr(settings, name)
            if not isinstance(control, ChoiceBox):
                control.show_value(getattr(own, name, OPTIONS[name].unset) if value is None else value)
                self._fields[name].set_is_default(value is None)
        skips = honours_clip_skip(self._model.chosen.info()) or settings.clip_skip is not None
        self._fields["clip_skip"].setVisible(skips)
        self._fields["guidance_scale"].set_name(self._guidance_name())
        is_guided = not self._is_embedded() or (settings.true_cfg_scale or 1) > 1
        for name in ("cfg_interval", "guidance_rescale"):
            self._fields[name].setVisible(is_guided or getattr(settings, name) is not None)
        self._fields["true_cfg_scale"].setVisible(self._is_embedded() or settings.true_cfg_scale is not None)
        self.controls["sampler"].show_choices([self._own_choice(), *map(_named, SAMPLERS)], settings.sampler)
        self.controls["schedule"].show_choices([self._own_choice(), *map(_named, SCHEDULES)], settings.schedule)

    def summary(self) -> str:
        """A short summary of the settings."""
        settings = self._model.chosen.settings()
        parts = [
            self.tr("{steps} steps").format(steps=round(self.controls["steps"].value())),
            (self.tr("guidance {guidance}") if self._is_embedded() else self.tr("CFG {guidance}")).format(
                guidance=number_text(self.controls["guidance_scale"].value())
            ),
        ]
        if settings.sampler is not None:
            parts.append(shown_name(settings.sampler))
        return ", ".join(parts)

    def _is_embedded(self) -> bool:
        info = self._model.chosen.info()
        return info is not None and info.guidance == "embedded"

    def _guidance_name(self) -> str:
        return self.tr("Guidance") if self._is_embedded() else label(OPTIONS["guidance_scale"])

    def _field(self, name: str, option: Option, control: Any) -> Field:  # noqa: ANN401  one of three widgets
        field = Field(label(option), control, resettable=not isinstance(control, ChoiceBox))
        as_taken = _as_taken(option)
        signal = control.chosen if isinstance(control, ChoiceBox) else control.edited
        signal.connect(lambda value: self._model.chosen.change(**{name: as_taken(value)}))
        field.reset.connect(lambda: self._model.chosen.reset([name]))
        return field

    def _own_choice(self) -> Choice:
        return Choice(value=None, name=self.tr("Model default"))


def _control(option: Option) -> Any:  # noqa: ANN401  one of three widgets
    """The widget that shows and edits the values of an option."""
    name, tip = label(option), tooltip(option)
    takes = option.takes
    if isinstance(takes, Integer):
        return SliderSpin(name, tip, low=takes.low, high=takes.high, top=takes.usual, step=1)
    if isinstance(takes, Number):
        decimals = len(f"{takes.step:g}".partition(".")[2])
        low, high = takes.low, takes.high
        return SliderSpin(name, tip, low=low, high=high, top=takes.usual, step=takes.step, decimals=decimals)
    if isinstance(takes, Interval):
        return IntervalSpin(name, tip, step=takes.step)
    return ChoiceBox(name, tip)


def _as_taken(option: Option) -> Callable[[Any], Any]:
    if isinstance(option.takes, Integer):
        return round
    return (lambda value: round(value, 3)) if isinstance(option.takes, Number) else (lambda value: value)


def _named(name: str) -> Choice:
    return Choice(value=name, name=shown_name(name))
