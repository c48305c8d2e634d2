"""Refiner and hires fix settings."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import get_args

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from mezzotint.protocol import Resampling, Space
from mezzotint.request_protocol import HIRES_SCALE, HIRES_STRENGTH, MOST_HIRES, REFINE_STEPS, REFINER_AT
from mezzotint.sampling_protocol import CONDITION_NOISE
from mezzotint_app.viewmodel.create.state import CreateSettings
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.slider_spin import SliderSpin


class RefinerHiresBox(QWidget):
    """Emits `edited` with the name of a setting and its new value."""

    edited = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(12)
        self._fields: dict[str, Field] = {}
        self._numbers: dict[str, SliderSpin] = {}
        self._choices: dict[str, ChoiceBox] = {}
        self._build_refiner()
        self._build_second_pass()
        self._build_conditional_refiner()
        tip = self.tr("Enlarges an init image that is smaller than the result, before it is denoised")
        self._add_choice("init_upscaler", self.tr("Enlarge the init image by"), tip)

    def show_settings(
        self,
        settings: CreateSettings,
        refiners: Sequence[Choice],
        conditional: Sequence[Choice] = (),
        upscalers: Sequence[str] = (),
    ) -> None:
        """Show the settings; `refiners` and `conditional` refiners are those that work with the model."""
        self._show_conditional_refiner(settings, conditional)
        none = Choice(value=None, name=self.tr("None"))
        self._choices["refiner"].show_choices([none, *refiners], settings.refiner)
        if not refiners and settings.refiner is None:
            self._fields["refiner"].set_hint(self.tr("No installed refiner works with this model."))
        else:
            self._fields["refiner"].set_hint("")
        self._fields["refiner_at"].setVisible(settings.refiner is not None)
        self._second_pass.setChecked(settings.second_pass)
        for name in ("second_scale", "second_strength", "second_space", "second_upscaler"):
            self._fields[name].setVisible(settings.second_pass)
        self._show_number("refiner_at", settings.refiner_at, REFINER_AT)
        self._show_number("second_scale", settings.second_scale, HIRES_SCALE)
        self._show_number("second_strength", settings.second_strength, HIRES_STRENGTH)
        method = settings.second_upscaler or "bicubic"
        self._choices["second_space"].show_choices(self._spaces(), settings.second_space or "latent")
        self._choices["second_upscaler"].show_choices(self._methods(method, upscalers), method)
        self._fields["second_space"].setVisible(settings.second_pass and method in get_args(Resampling))

    def show_init_upscaler(self, settings: CreateSettings, upscalers: Sequence[str], *, has_init: bool) -> None:
        """Show what enlarges an init image, if there is one."""
        known = dict.fromkeys((*upscalers, *filter(None, [settings.init_upscaler])))
        plain = Choice(value=None, name=self.tr("Lanczos"))
        choices = [plain, *(Choice(value=one, name=self._named(one)) for one in known)]
        self._choices["init_upscaler"].show_choices(choices, settings.init_upscaler)
        self._fields["init_upscaler"].setVisible(has_init or settings.init_upscaler is not None)

    def fields(self) -> dict[str, Field]:
        """The fields by the names of the settings."""
        return self._fields

    def number(self, name: str) -> SliderSpin:
        """The control of a number."""
        return self._numbers[name]

    def choice(self, name: str) -> ChoiceBox:
        """The control of a choice."""
        return self._choices[name]

    def second_pass(self) -> QCheckBox:
        """The checkbox that enables the second pass."""
        return self._second_pass

    def _build_refiner(self) -> None:
        self._add_choice("refiner", self.tr("Refiner"), self.tr("A model for the last part of the schedule"))
        self._add_number(
            "refiner_at",
            self.tr("Refiner switch at"),
            self.tr("Part of the steps done before the switch: 0.8 leaves the last fifth to the refiner"),
            low=0.01,
            high=0.99,
            step=0.01,
        )

    def _build_second_pass(self) -> None:
        self._second_pass = QCheckBox(self.tr("Hires fix (second pass)"))
        self._second_pass.setToolTip(self.tr("Upscale the image and add finer detail"))
        self._second_pass.clicked.connect(lambda on: self.edited.emit("second_pass", on))
        self._layout.addWidget(self._second_pass)
        self._add_number(
            "second_scale",
            self.tr("Scale"),
            self.tr("Factor for width and height"),
            low=1.0,
            high=MOST_HIRES,
            top=4.0,
            step=0.05,
        )
        self._add_number(
            "second_strength",
            self.tr("Denoising strength"),
            self.tr("Low sharpens the image; high invents new detail"),
            low=0.0,
            high=1.0,
            step=0.01,
        )
        self._add_choice("second_space", self.tr("Upscale in"), self.tr("Latents are faster, pixels are cleaner"))
        self._add_choice(
            "second_upscaler", self.tr("Method"), self.tr("Bicubic suits most images; an upscaler adds sharp edges")
        )

    def _build_conditional_refiner(self) -> None:
        tip = self.tr("A conditional refiner, which generates the finished image anew at twice the size")
        self._add_choice("refine_with", self.tr("Refine with"), tip)
        title = self.tr("Refining steps")
        steps = SliderSpin(title, self.tr("Steps of the conditional refiner"), low=1, high=1000, step=1, top=50)
        steps.edited.connect(lambda value: self.edited.emit("refine_steps", round(value)))
        self._place_number("refine_steps", title, steps)
        self._add_number(
            "condition_noise",
            self.tr("Condition noise"),
            self.tr("Noise added to the smaller image first: with more, less of it is kept"),
            low=0.0,
            high=1.0,
            step=0.01,
        )

    def _show_conditional_refiner(self, settings: CreateSettings, conditional: Sequence[Choice]) -> None:
        is_used = settings.refine_with is not None
        none = Choice(value=None, name=self.tr("None"))
        self._choices["refine_with"].show_choices([none, *conditional], settings.refine_with)
        self._fields["refine_with"].setVisible(is_used or bool(conditional))
        for name, value, usual in (
            ("refine_steps", settings.refine_steps, REFINE_STEPS),
            ("condition_noise", settings.condition_noise, CONDITION_NOISE),
        ):
            self._fields[name].setVisible(is_used)
            self._show_number(name, value, usual)

    def _add_choice(self, name: str, title: str, tip: str) -> None:
        box = ChoiceBox(title, tip)
        box.chosen.connect(lambda value: self.edited.emit(name, value))
        self._choices[name] = box
        self._fields[name] = Field(title, box)
        self._layout.addWidget(self._fields[name])

    def _add_number(
        self, name: str, title: str, tip: str, *, low: float, high: float, step: float, top: float | None = None
    ) -> None:
        number = SliderSpin(title, tip, low=low, high=high, step=step, top=top, decimals=2)
        number.edited.connect(lambda value: self.edited.emit(name, value))
        self._place_number(name, title, number)

    def _place_number(self, name: str, title: str, number: SliderSpin) -> None:
        self._numbers[name] = number
        self._fields[name] = Field(title, number)
        self._layout.addWidget(self._fields[name])

    def _show_number(self, name: str, value: float | None, usual: float) -> None:
        self._numbers[name].show_value(usual if value is None else value)

    def _spaces(self) -> list[Choice]:
        names = {"latent": self.tr("Latents"), "pixel": self.tr("Pixels")}
        return [Choice(value=one, name=names[one]) for one in get_args(Space)]

    def _methods(self, chosen: str, upscalers: Sequence[str]) -> list[Choice]:
        """Resampling, then upscalers, which always work on pixels; the chosen one even if it is not found."""
        names = {
            "nearest": self.tr("Nearest"),
            "bilinear": self.tr("Bilinear"),
            "bicubic": self.tr("Bicubic"),
            "lanczos": self.tr("Lanczos (pixels only)"),
        }
        known = dict.fromkeys((*get_args(Resampling), *upscalers, chosen))
        return [Choice(value=one, name=names.get(one) or self._named(one)) for one in known]

    def _named(self, upscaler: str) -> str:
        return self.tr("Upscaler {name}").format(name=PurePath(upscaler).name)
