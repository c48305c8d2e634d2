"""Options, each declared once: command line, job files, tables, window and manual derive theirs from here.

Standard library only.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from mezzotint.errors import UsageError
from mezzotint.values.basic import Listed, Value, YesNo

Group = Literal[
    "image", "inpainting and outpainting", "sampling", "refiner and hires fix", "performance", "memory", "output"
]
Scope = Literal["cascade", "stage", "model", "refining"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option."""

    name: str  # on the command line; in job files without the leading hyphens
    takes: Value
    help: str
    group: Group
    names: tuple[str, ...] = ()  # known values, listed in the help
    default: str = ""  # default for display
    short: str | None = None  # on the command line
    in_jobs: bool = True  # False: the job file has another place for it
    key: str = ""  # its Python name, if different
    # For sampling. `cascade`: applies to all stages, including a refiner; `stage`: to stages of the same model;
    # `model`: describes the denoiser, and is dropped when another replaces it; `refining`: to conditional refiners.
    scope: Scope = "cascade"
    label: str = ""  # label in the window, with `help` as tooltip; empty: no derived control
    # shown by a control if neither user nor model sets a value; None: the option is off
    unset: float | tuple[float, float] | None = 0.0

    @property
    def field(self) -> str:
        """The Python name."""
        return self.key or self.name.replace("-", "_")

    @property
    def flag(self) -> str:
        """The command line flag."""
        return f"--{self.name}"

    @property
    def unset_value(self) -> object:
        """The value that means "not set"."""
        if isinstance(self.takes, Listed):
            return ()
        return False if isinstance(self.takes, YesNo) and self.takes.switch else None

    def check(self, value: object) -> None:
        """Raise UsageError for an invalid value: a number out of range, an unknown choice."""
        try:
            self.takes.read(self.takes.to_setting(value))
        except ValueError as error:
            raise UsageError(f"{self.name.replace('-', ' ')}: {error}") from None

    def fits(self, value: object) -> bool:
        """Whether the value is valid."""
        try:
            self.check(value)
        except UsageError:
            return False
        return True

    def read_cell(self, cell: object) -> object:
        """The value of a table cell."""
        return self.takes.read(self.takes.from_text(cell.strip()) if isinstance(cell, str) else cell)


def option(initial: Any, name: str, takes: Value, **how: Any) -> Any:  # noqa: ANN401  as dataclasses.field
    """A dataclass field declared as an option."""
    return dataclasses.field(default=initial, metadata={"option": Option(name=name, takes=takes, **how)})


@cache
def declared(cls: type) -> Mapping[str, Option]:
    """The options declared by a dataclass's fields, by field."""
    return {one.name: one.metadata["option"] for one in dataclasses.fields(cls) if "option" in one.metadata}


def translate(context: str, text: str) -> str:  # noqa: ARG001  lupdate looks for it
    """Mark a text for the window's translation catalogue; the window looks up the translation."""
    return text
