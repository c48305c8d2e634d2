"""Advice on what would make the image faster, applied by one click and undone by another."""

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, QLocale, QObject, Signal

from mezzotint.protocol import Advice
from mezzotint_app.amounts import about_text
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel
from mezzotint_app.viewmodel.create.preflight import Preflight
from mezzotint_app.viewmodel.create.state import CreateSettings
from mezzotint_app.viewmodel.models.settings import ModelSettings

translate = QCoreApplication.translate

_SAME_NAMES = ("quantization", "text_quantization", "step_cache", "tokens", "deep_shrink")
_NOT_WITH_CONTROLS = ("cache", "shrink")


class Faster(QObject):
    """The advice of the latest plan."""

    changed = Signal()
    applied = Signal(str)  # what was done, for the user

    def __init__(
        self, chosen: ModelSettings, preflight: Preflight, images: ImageInputModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._chosen, self._preflight, self._images = chosen, preflight, images
        self._before: tuple[str, CreateSettings] | None = None  # model and settings
        self._after: tuple[str, CreateSettings] | None = None
        preflight.changed.connect(self.changed)

    def advice(self) -> tuple[Advice, ...]:
        """Return what can be applied to the page's settings."""
        plan, settings = self._preflight.plan(), self._chosen.settings()
        if plan is None or self._preflight.state() != "planned":
            return ()
        return tuple(one for one in plan.advice if self._is_possible(one, settings))

    def _is_possible(self, advice: Advice, settings: CreateSettings) -> bool:
        if advice.kind in _NOT_WITH_CONTROLS and settings.controls:
            return False
        staged = settings.second_pass or settings.refiner is not None or settings.refine_with is not None
        if advice.kind == "hires":
            return not staged and self._images.path() is None and not self._images.decides_size()
        return advice.kind != "model" or not staged

    def words(self, advice: Advice) -> str:
        """Return what it does, the time with it, and what it costs."""
        plan, seconds = self._preflight.plan(), self._preflight.seconds()
        if advice.seconds is None or plan is None or seconds is None:
            time = translate("Faster", "how much depends on the image")
        else:
            now = about_text(seconds * advice.seconds / plan.seconds)
            time = translate("Faster", "{now} instead of {before}").format(now=now, before=about_text(seconds))
        return f"{_name(advice)}: {time}. {_cost(advice)}"

    def apply(self, advice: Advice) -> None:
        """Set the options."""
        self._before = self._chosen.model(), self._chosen.settings()
        if advice.model is not None:
            self._chosen.set_model(advice.model)
        changes = {name: value for name in _SAME_NAMES if (value := getattr(advice, name)) is not None}
        if advice.size is not None:
            changes |= {"width": advice.size[0], "height": advice.size[1]}
            changes |= {"second_pass": True, "second_scale": advice.hires}
        self._chosen.change(**changes)
        self._after = self._chosen.model(), self._chosen.settings()
        self.changed.emit()
        self.applied.emit(translate("Faster", "Set: {advice}. The same button undoes it.").format(advice=_name(advice)))

    def can_undo(self) -> bool:
        """Whether the last advice was applied, and nothing was changed since."""
        return self._after is not None and self._after == (self._chosen.model(), self._chosen.settings())

    def undo(self) -> None:
        """Restore the model and the settings before the last advice."""
        if self.can_undo() and self._before is not None:
            model, settings = self._before
            self._before = self._after = None
            self._chosen.set_model(model)
            self._chosen.replace(settings)
            self.changed.emit()


def _name(advice: Advice) -> str:
    names: Mapping[str, str] = {
        "model": translate("Faster", "{model}, in {steps} steps"),
        "weights": translate("Faster", "{bits}-bit weights"),
        "text": translate("Faster", "8-bit text encoders"),
        "cache": translate("Faster", "Step cache"),
        "tokens": translate("Faster", "Fewer tokens in attention"),
        "shrink": translate("Faster", "Deep shrink: composed at half the size"),
        "hires": translate("Faster", "{width}×{height}, then a second pass at {scale}×"),
    }
    width, height = advice.size or (0, 0)
    return names[advice.kind].format(
        model=advice.model,
        steps=advice.steps,
        bits=4 if (advice.quantization or "").startswith("int4") else 8,
        width=width,
        height=height,
        scale=QLocale().toString(advice.hires or 1.0, "g", 3),
    )


def _cost(advice: Advice) -> str:
    costs: Mapping[str, str] = {
        "model": translate("Faster", "Images look different."),
        "text": translate("Faster", "Prompts are understood slightly differently."),
        "hires": translate("Faster", "Less of the image is made at its full size."),
    }
    if advice.loss is None:
        return costs.get(advice.kind, translate("Faster", "Images differ."))
    words = translate("Faster", "Images differ by {loss} %, as measured on the bundled models.")
    return words.format(loss=QLocale().toString(100 * advice.loss, "f", 1))
