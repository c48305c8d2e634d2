"""The chosen model and its settings; each model keeps its own."""

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
    """Reads and changes the settings of the chosen model; the state's `changed` signals it."""

    def __init__(self, state: Stored[CreateState], models: ModelChoices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state, self._models = state, models
        self._ratio: tuple[str, float] | None = None  # model id, and height / width while the aspect ratio is locked

    # ---- model

    def model(self) -> str:
        """Return the chosen model's id, otherwise the default model's, or "" if there is none."""
        chosen = self._state.value().model
        if chosen:
            return chosen
        default = self._models.default()
        return default.id if default is not None else ""

    def info(self) -> ModelInfo | None:
        """Return the model as listed; None if it is not listed, or the list has not been read."""
        return self._models.find(self.model())

    def set_model(self, identity: str) -> None:
        """Choose a model; its own settings apply."""
        self._ratio = None
        self._state.change(model=identity)

    def settle(self) -> None:
        """Once models are known, make the default one the choice, with the settings made before it was known."""
        state, default = self._state.value(), self._models.default()
        if state.model or default is None:
            return
        early = settings_of(state, "")
        others = with_settings(state, "", CreateSettings())
        if early != CreateSettings() and default.id not in others:
            others[default.id] = early
        self._state.change(model=default.id, per_model=others)

    # ---- settings

    def settings_of(self, model: str) -> CreateSettings:
        """Return the settings of any model."""
        return settings_of(self._state.value(), model)

    def settings(self) -> CreateSettings:
        """Return the settings of the chosen model."""
        return settings_of(self._state.value(), self.model())

    def change(self, **fields: Any) -> None:  # noqa: ANN401  of several types
        """Change some fields."""
        values = {name: getattr(self.settings(), name) for name in names_of_settings()}
        self.replace(CreateSettings(**(values | fields)))

    def replace(self, settings: CreateSettings) -> None:
        """Replace all fields."""
        self._ratio = None if not settings.aspect_locked else self._ratio
        own = with_settings(self._state.value(), self.model(), replace(settings, count=1))
        self._state.change(count=settings.count, per_model=own)

    def reset(self, names: Iterable[str]) -> None:
        """Reset some fields to the model defaults."""
        self.replace(without(self.settings(), names))

    def reset_all(self) -> None:
        """Reset all fields to the model defaults."""
        self._ratio = None
        self.reset(names_of_settings())

    def is_set(self, *names: str) -> bool:
        """Whether any of these fields differs from the model default."""
        unset = CreateSettings()
        return any(getattr(self.settings(), name) != getattr(unset, name) for name in names)

    def own(self) -> ModelDefaults | None:
        """Return the model's recommended defaults, or None if not yet known."""
        info = self.info()
        return info.defaults if info is not None else None

    # ---- image size

    def size(self) -> tuple[int, int]:
        """Return width and height, by default the model's."""
        own = own_size(self.info())
        settings = self.settings()
        return settings.width or own[0], settings.height or own[1]

    def set_size(self, width: int, height: int) -> None:
        """Set width and height; a lock then keeps this ratio."""
        self._ratio = None
        self.change(width=width, height=height)

    def set_width(self, width: int) -> None:
        """Set the width; if the aspect ratio is locked, the height follows."""
        ratio = self._locked_ratio()
        height = self.size()[1] if ratio is None else other_side(width, ratio, self._multiple())
        self.change(width=width, height=height)

    def set_height(self, height: int) -> None:
        """Set the height; if the aspect ratio is locked, the width follows."""
        ratio = self._locked_ratio()
        width = self.size()[0] if ratio is None else other_side(height, 1 / ratio, self._multiple())
        self.change(width=width, height=height)

    def lock_aspect(self, locked: bool) -> None:
        """Lock or unlock the aspect ratio."""
        self._ratio = None
        self.change(aspect_locked=locked)

    def swap_sides(self) -> None:
        """Swap width and height."""
        width, height = self.size()
        self.set_size(height, width)

    def take_image_size(self, width: int, height: int) -> None:
        """Set the nearest size that the model supports."""
        self.set_size(snapped(width, self._multiple()), snapped(height, self._multiple()))

    def _multiple(self) -> int:
        return multiple_of(self.info())

    def _locked_ratio(self) -> float | None:
        """Return the ratio when it was locked, so that rounding errors do not accumulate; None if not locked."""
        if not self.settings().aspect_locked:
            return None
        if self._ratio is None or self._ratio[0] != self.model():
            width, height = self.size()
            self._ratio = self.model(), height / width
        return self._ratio[1]
