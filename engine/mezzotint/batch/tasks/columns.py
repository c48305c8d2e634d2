"""What the columns of a table mean: settings and the prompt by their usual names, and fields of templates."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mezzotint.batch.tasks.tables import Cell
from mezzotint.option import Option
from mezzotint.options import SETTINGS
from mezzotint.parsed import Guess, Parsed

PROMPT = "prompt"
_SIDES = ("width", "height")
_SYNONYMS = {
    PROMPT: ("positive", "positive-prompt", "prompts", "text", "caption"),
    "negative": ("negative-prompt", "neg", "neg-prompt", "negative-prompts"),
    "guidance": ("cfg", "cfg-scale", "guidance-scale"),
    "steps": ("sampling-steps", "num-inference-steps", "step"),
    "sampler": ("sampler-name", "sampling-method"),
    "schedule": ("scheduler", "schedule-type"),
    "model": ("checkpoint", "ckpt", "model-name", "sd-model", "sd-model-checkpoint"),
    "strength": ("denoising-strength", "denoise", "denoising"),
    "count": ("batch-count", "n-iter", "number-of-images"),
    "seed": ("seeds", "noise-seed"),
    "size": ("resolution", "image-size"),
    "init": ("init-image", "input-image"),
    "lora": ("loras",),
    "vae": ("sd-vae",),
}
_MEANT = {other: name for name, others in _SYNONYMS.items() for other in others}


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns that are read."""

    prompt: str | None
    settings: Mapping[str, Option]  # by column
    sides: tuple[str, ...]  # the columns of width and height, or none

    def values(self, cells: Mapping[str, Cell]) -> dict[str, Any]:
        """The settings of a row, by field; an empty cell sets nothing. Raises ValueError, naming the column."""
        found = {}
        for column, option in self.settings.items():
            if cells.get(column, "") != "":
                found[option.field] = _read(option, column, cells[column])
        width, height = (cells.get(side, "") for side in self.sides) if self.sides else ("", "")
        if width != "" or height != "":
            found.setdefault("size", _read(SETTINGS["size"], " and ".join(self.sides), f"{width}x{height}"))
        return found


def read_columns(names: Sequence[str], used: frozenset[str], source: str) -> Parsed[Columns]:
    """What columns of these names mean; `used` are those that a template or a name of outputs has as fields.

    These are settings only under a setting's own name.
    """
    meanings = {name: name if name in used else _meaning(name) for name in names}
    chosen: dict[str, str] = {}  # column by meaning: its own name comes before others
    for name in sorted(names, key=lambda name: name != meanings[name]):
        if meanings[name] in (PROMPT, *_SIDES) or meanings[name] in SETTINGS:
            chosen.setdefault(meanings[name], name)
    sides = tuple(chosen.pop(side) for side in _SIDES) if all(side in chosen for side in _SIDES) else ()
    kept = {column: meaning for meaning, column in chosen.items() if meaning not in _SIDES}
    return Parsed(
        Columns(
            prompt=chosen.get(PROMPT),
            settings={column: SETTINGS[meaning] for column, meaning in kept.items() if meaning != PROMPT},
            sides=sides,
        ),
        source=source,
        unused=tuple(name for name in names if name not in kept and name not in sides and name not in used),
        guesses=tuple(
            Guess(assumed=f"{meaning} for the column {column}", reason="its name")
            for column, meaning in kept.items()
            if column != meaning
        ),
    )


def _meaning(name: str) -> str:
    plain = re.sub(r"[\s_-]+", "-", name.strip().lower())
    return _MEANT.get(plain, plain)


def _read(option: Option, column: str, cell: Cell) -> Any:  # noqa: ANN401  as the option has it
    try:
        return option.read_cell(cell)
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from None
