"""An X/Y/Z grid of the Create page's image: which settings vary, over which values, and the job that makes it."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.errors import MezzotintError
from mezzotint.jobs.store import alternatives
from mezzotint.options import NOT_IN_MATRIX, SETTINGS
from mezzotint.protocol import GenerateRequest
from mezzotint.values.keyed import divided_values
from mezzotint_app.viewmodel.batch.settings import settings_of_request
from mezzotint_app.viewmodel.option_texts import label

translate = QCoreApplication.translate

AXES = 3
PROMPT = "prompt"
MOST_IMAGES, MOST_VALUES = 1000, 100  # as the batch takes them
_SEEDS_DRAWN_BELOW = 2**32
_FIRST = ("seed", "steps", "guidance", "sampler", "schedule", "model", "size", "lora", "strength")


@dataclass(frozen=True, slots=True, kw_only=True)
class GridAxis:
    """A setting and its values as typed; unused without a setting."""

    setting: str = ""
    values: str = ""


class GridModel(QObject):
    """The axes of one grid: x, y and z."""

    changed = Signal()

    def __init__(
        self,
        request: Callable[[], GenerateRequest],
        wildcards: Callable[[str], str] = lambda _prompt: "",
        parent: QObject | None = None,
    ) -> None:
        """`wildcards`: the folder that a prompt is drawn from; "" for one without wildcards."""
        super().__init__(parent)
        self._request, self._wildcards = request(), wildcards
        first = GridAxis(setting="steps", values=_around_steps(self._request))
        self._axes: tuple[GridAxis, ...] = (first, GridAxis(), GridAxis())

    def axes(self) -> tuple[GridAxis, ...]:
        """Return the axes: x, y, z."""
        return self._axes

    def set_axis(self, number: int, setting: str, values: str) -> None:
        """Change an axis."""
        axes = list(self._axes)
        axes[number] = GridAxis(setting=setting, values=values)
        if tuple(axes) != self._axes:
            self._axes = tuple(axes)
            self.changed.emit()

    @staticmethod
    def settings() -> tuple[tuple[str, str], ...]:
        """Return the settings that can vary, with their displayed names: the usual ones first."""
        others = tuple(name for name in SETTINGS if name not in (*NOT_IN_MATRIX, *_FIRST, "count"))
        return tuple((name, name_of(name)) for name in (PROMPT, *_FIRST, *others))

    def count(self) -> int:
        """Return the number of images."""
        try:
            prompts = sum(len(self._alternatives(prompt)) for prompt in self._prompts())
        except MezzotintError:
            return 0
        return prompts * math.prod(len(divided_values(axis.values)) for axis in self._used(PROMPT))

    def shape(self) -> str:
        """Return the numbers of values, such as 3 × 2; the prompt's alternatives come last."""
        counts = [len(divided_values(axis.values)) for axis in self._used()]
        of_prompt = self.count() // max(1, math.prod(counts))
        return " × ".join(map(str, [*counts, *([of_prompt] if of_prompt > 1 else [])]))

    def problem(self) -> str:
        """Return why the grid cannot be made; "" if it can."""
        used = self._used()
        if not used:
            return self.tr("Choose a setting and its values.")
        if len({axis.setting for axis in used}) < len(used):
            return self.tr("A setting is chosen twice.")
        if not any(self._prompts()):
            return self.tr("Write a prompt first.")
        for axis in used:
            problem = self._problem_of(axis)
            if problem:
                return problem
        return self._problem_of_size(used)

    def job(self) -> dict[str, Any]:
        """Return the job, without its output."""
        settings = settings_of_request(self._request, with_images=True).settings
        matrix = {axis.setting: [_value(axis.setting, one) for one in divided_values(axis.values)]
                  for axis in self._used(PROMPT)}  # fmt: skip
        kept = {name: value for name, value in settings.items() if name not in (*matrix, "count")}
        if "seed" not in matrix:
            kept.setdefault("seed", random.randrange(_SEEDS_DRAWN_BELOW))
        prompts: dict[str, Any] = {"list": list(self._prompts())}
        folder = next(filter(None, map(self._wildcards, self._prompts())), "")
        if folder:
            prompts |= {"wildcards": folder, "choices": "one"}
        found = {"version": 1, "title": self.title(), "settings": kept, "prompts": prompts, "matrix": matrix}
        return {name: value for name, value in found.items() if value}

    def title(self) -> str:
        """Return a title: the prompt and what varies."""
        names = ", ".join(name_of(axis.setting) for axis in self._used())
        words = " ".join(self._request.prompt.split())[:40].strip()
        return f"{words}: {names}" if words else names

    # ---- internals

    def _used(self, but: str = "") -> list[GridAxis]:
        return [axis for axis in self._axes if axis.setting and axis.setting != but]

    def _prompts(self) -> tuple[str, ...]:
        said = next((axis for axis in self._axes if axis.setting == PROMPT), None)
        return (self._request.prompt,) if said is None else divided_values(said.values)

    def _alternatives(self, prompt: str) -> tuple[str, ...]:
        return (prompt,) if self._wildcards(prompt) else alternatives(prompt, limit=MOST_IMAGES)

    def _problem_of(self, axis: GridAxis) -> str:
        values, name = divided_values(axis.values), name_of(axis.setting)
        if not all(values):
            return self.tr("{name}: write values, divided by commas.").format(name=name)
        if len(set(values)) < len(values):
            return self.tr("{name}: a value is there twice.").format(name=name)
        try:
            for value in values if axis.setting != PROMPT else ():
                SETTINGS[axis.setting].takes.read(_value(axis.setting, value))
        except ValueError as error:
            return f"{name}: {error}"
        return ""

    def _problem_of_size(self, used: list[GridAxis]) -> str:
        try:
            prompts = [one for prompt in self._prompts() for one in self._alternatives(prompt)]
        except MezzotintError as error:
            return str(error)
        of_prompts = len(prompts) > 1 and not any(axis.setting == PROMPT for axis in used)
        if len(used) + of_prompts > AXES:
            return self.tr("The alternatives of the prompt are an axis, too: leave one out.")
        longest = max(len(prompts), *(len(divided_values(axis.values)) for axis in used))
        if self.count() > MOST_IMAGES or longest > MOST_VALUES:
            message = self.tr("At most {images} images, and {values} values of each setting.")
            return message.format(images=MOST_IMAGES, values=MOST_VALUES)
        return ""


def name_of(setting: str) -> str:
    """Return the displayed name of a setting."""
    if setting == PROMPT:
        return translate("Grid", "Prompt")
    named = {
        "seed": translate("Grid", "Seed"),
        "model": translate("Grid", "Model"),
        "size": translate("Grid", "Size"),
        "lora": translate("Grid", "LoRA"),
        "strength": translate("Grid", "Strength"),
    }
    option = SETTINGS[setting]
    return named.get(setting) or (label(option) if option.label else setting.replace("-", " "))


def _value(setting: str, word: str) -> Any:  # noqa: ANN401  as a job file has it
    value = SETTINGS[setting].takes.from_text(word)
    return value if isinstance(value, int | float | str) else word


def _around_steps(request: GenerateRequest) -> str:
    steps = request.cascade.stages[0].sampling.steps or 20
    return ", ".join(map(str, dict.fromkeys((max(1, steps // 2), steps, min(1000, steps * 2)))))
