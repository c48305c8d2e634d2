"""The chosen model, and what is set for it; another model's settings are never touched."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject

from mezzotint.protocol import ModelDefaults, ModelInfo
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.sizes import multiple_of, other_side, own_size, snapped
from mezzotint_app.viewmodel.create.state import (
    CreateSettings,
    CreateState,
    names_of_settings,
    settings_of,
    with_settings,
    without,
)
from mezzotint_app.viewmodel.models.choices import ModelChoices


class ModelSettings(QObject):
    """Reads and changes the settings of one model at a time; `changed` of the state tells."""

    def __init__(self, state: Stored[CreateState], models: ModelChoices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state, self._models = state, models
        self._ratio: tuple[str, float] | None = None  # of height to width while it is locked, and the model's it is

    # ---- the model

    def model(self) -> str:
        """Its id; that of the default one where none was chosen; empty where there is none."""
        chosen = self._state.value().model
        if chosen:
            return chosen
        default = self._models.default()
        return default.id if default is not None else ""

    def info(self) -> ModelInfo | None:
        """As it is listed; None: it is not, or the list was not read yet."""
        return self._models.find(self.model())

    def set_model(self, identity: str) -> None:
        """Choose another; its own settings come with it."""
        self._ratio = None
        self._state.change(model=identity)

    def settle(self) -> None:
        """Once models are known, the default one is chosen for good, with what was set before it was known."""
        state, default = self._state.value(), self._models.default()
        if state.model or default is None:
            return
        early = settings_of(state, "")
        others = with_settings(state, "", CreateSettings())
        if early != CreateSettings() and default.id not in others:
            others[default.id] = early
        self._state.change(model=default.id, per_model=others)

    # ---- its settings

    def settings_of(self, model: str) -> CreateSettings:
        """What is set for any model."""
        return settings_of(self._state.value(), model)

    def settings(self) -> CreateSettings:
        """What is set for it."""
        return settings_of(self._state.value(), self.model())

    def change(self, **fields: Any) -> None:  # noqa: ANN401  of several types
        """Set some fields."""
        values = {name: getattr(self.settings(), name) for name in names_of_settings()}
        self.replace(CreateSettings(**(values | fields)))

    def replace(self, settings: CreateSettings) -> None:
        """Set all fields."""
        self._ratio = None if not settings.aspect_locked else self._ratio
        own = with_settings(self._state.value(), self.model(), replace(settings, count=1))
        self._state.change(count=settings.count, per_model=own)

    def reset(self, names: Iterable[str]) -> None:
        """Some fields back to the model default."""
        self.replace(without(self.settings(), names))

    def reset_all(self) -> None:
        """All fields back to the model default."""
        self._ratio = None
        self.reset(names_of_settings())

    def is_set(self, *names: str) -> bool:
        """Whether any of these fields is other than the model default."""
        unset = CreateSettings()
        return any(getattr(self.settings(), name) != getattr(unset, name) for name in names)

    def own(self) -> ModelDefaults | None:
        """What the model is best run with; None: not known yet."""
        info = self.info()
        return info.defaults if info is not None else None

    # ---- its size

    def size(self) -> tuple[int, int]:
        """Width and height, the model default where none is set."""
        own = own_size(self.info())
        settings = self.settings()
        return settings.width or own[0], settings.height or own[1]

    def set_size(self, width: int, height: int) -> None:
        """Both sides; a lock then holds their ratio."""
        self._ratio = None
        self.change(width=width, height=height)

    def set_width(self, width: int) -> None:
        """One side; with the lock the other follows."""
        ratio = self._locked_ratio()
        height = self.size()[1] if ratio is None else other_side(width, ratio, self._multiple())
        self.change(width=width, height=height)

    def set_height(self, height: int) -> None:
        """The other side."""
        ratio = self._locked_ratio()
        width = self.size()[0] if ratio is None else other_side(height, 1 / ratio, self._multiple())
        self.change(width=width, height=height)

    def lock_aspect(self, locked: bool) -> None:
        """Hold the ratio of the sides, or no more."""
        self._ratio = None
        self.change(aspect_locked=locked)

    def swap_sides(self) -> None:
        """Upright instead of wide, or wide instead of upright."""
        width, height = self.size()
        self.set_size(height, width)

    def take_image_size(self, width: int, height: int) -> None:
        """The nearest size that the model can make."""
        self.set_size(snapped(width, self._multiple()), snapped(height, self._multiple()))

    def _multiple(self) -> int:
        return multiple_of(self.info())

    def _locked_ratio(self) -> float | None:
        """The ratio that was there when the lock closed; rounding of sides does not wear it away."""
        if not self.settings().aspect_locked:
            return None
        if self._ratio is None or self._ratio[0] != self.model():
            width, height = self.size()
            self._ratio = self.model(), height / width
        return self._ratio[1]
