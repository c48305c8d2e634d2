"""Steps, guidance, sampler and schedule on the Create page."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from mezzotint_app.viewmodel.create.checks import honours_clip_skip
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.reading import MOST_GUIDANCE, MOST_STEPS
from mezzotint_app.viewmodel.create.sampler_choices import SAMPLERS, go_together, schedules_of, shown_name
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.slider_spin import SliderSpin

_USUAL_STEPS = 60.0
_USUAL_GUIDANCE = 15.0
_MOST_SKIPPED = 10


class CreateSampling(QWidget):
    """How the noise is taken away."""

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._model = model
        self.steps = SliderSpin(
            self.tr("Steps"),
            self.tr("More steps take longer and gain little beyond the model default"),
            low=1,
            high=MOST_STEPS,
            top=_USUAL_STEPS,
            step=1,
        )
        self.guidance = SliderSpin(
            self.tr("CFG scale"),
            self.tr("How closely the prompt is followed; at 1 or less the negative prompt is ignored"),
            low=0,
            high=MOST_GUIDANCE,
            top=_USUAL_GUIDANCE,
            step=0.1,
            decimals=1,
        )
        self.rescale = SliderSpin(
            self.tr("CFG rescale"),
            self.tr("Against overexposure at a high CFG scale"),
            low=0,
            high=1,
            step=0.05,
            decimals=2,
        )
        self.sampler = ChoiceBox(self.tr("Sampler"), self.tr("The sampling method"))
        self.schedule = ChoiceBox(self.tr("Schedule"), self.tr("How the noise levels of the steps are spaced"))
        self.clip_skip = SliderSpin(
            self.tr("Clip skip"),
            self.tr("Use the text encoder's output this many layers earlier"),
            low=0,
            high=_MOST_SKIPPED,
            step=1,
        )
        self._fields = {
            "steps": Field(self.tr("Steps"), self.steps, resettable=True),
            "guidance_scale": Field(self.tr("CFG scale"), self.guidance, resettable=True),
            "sampler": Field(self.tr("Sampler"), self.sampler),
            "schedule": Field(self.tr("Schedule"), self.schedule),
            "guidance_rescale": Field(self.tr("CFG rescale"), self.rescale, resettable=True),
            "clip_skip": Field(self.tr("Clip skip"), self.clip_skip, resettable=True),
        }
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for field in self._fields.values():
            layout.addWidget(field)
        self._connect()
        self.show_model()

    def fields(self) -> dict[str, Field]:
        """By the names of the settings."""
        return self._fields

    def show_model(self) -> None:
        """Show what is set."""
        chosen = self._model.chosen
        settings, own = chosen.settings(), chosen.own()
        self._show_number("steps", self.steps, settings.steps, own.steps if own else 30)
        self._show_number("guidance_scale", self.guidance, settings.guidance_scale, own.guidance_scale if own else 5.0)
        self._show_number("guidance_rescale", self.rescale, settings.guidance_rescale, 0.0)
        self._show_number("clip_skip", self.clip_skip, settings.clip_skip, 0)
        self._fields["clip_skip"].setVisible(honours_clip_skip(chosen.info()) or settings.clip_skip is not None)
        self.sampler.show_choices([self._own_choice(), *map(_named, SAMPLERS)], settings.sampler)
        self._show_schedule(settings.sampler, settings.schedule)

    def summary(self) -> str:
        """What is set, in a few words."""
        settings = self._model.chosen.settings()
        told = [
            self.tr("{steps} steps").format(steps=round(self.steps.value())),
            self.tr("CFG {guidance}").format(guidance=f"{self.guidance.value():g}"),
        ]
        if settings.sampler is not None:
            told.append(shown_name(settings.sampler))
        return ", ".join(told)

    def _show_number(self, name: str, control: SliderSpin, value: float | None, own: float) -> None:
        control.show_value(own if value is None else value)
        self._fields[name].set_own(value is None)

    def _show_schedule(self, sampler: str | None, schedule: str | None) -> None:
        offered = [self._own_choice(), *map(_named, schedules_of(sampler))]
        kept = schedule is not None and not go_together(sampler, schedule)
        self.schedule.show_choices(offered, None if kept else schedule)
        told = self.tr("{schedule} is not supported by {sampler}; it is kept for samplers that support it.")
        hint = told.format(schedule=shown_name(schedule or ""), sampler=shown_name(sampler or "")) if kept else ""
        self._fields["schedule"].set_hint(hint)

    def _connect(self) -> None:
        change, reset = self._model.chosen.change, self._model.chosen.reset
        self.steps.edited.connect(lambda value: change(steps=round(value)))
        self.guidance.edited.connect(lambda value: change(guidance_scale=round(value, 3)))
        self.rescale.edited.connect(lambda value: change(guidance_rescale=round(value, 3)))
        self.clip_skip.edited.connect(lambda value: change(clip_skip=round(value)))
        self.sampler.chosen.connect(lambda name: change(sampler=name))
        self.schedule.chosen.connect(lambda name: change(schedule=name))
        for name, field in self._fields.items():
            field.reset.connect(lambda name=name: reset([name]))

    def _own_choice(self) -> Choice:
        return Choice(value=None, name=self.tr("Model default"))


def _named(name: str) -> Choice:
    return Choice(value=name, name=shown_name(name))
