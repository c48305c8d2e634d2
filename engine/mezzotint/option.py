"""An option, declared once: the command line, job files, tables, the window and the manual derive theirs from it.

Standard library only.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from mezzotint.errors import UsageError
from mezzotint.option_values import Listed, Value, YesNo

Group = Literal[
    "image", "inpainting and outpainting", "sampling", "refiner and hires fix", "performance", "memory", "output"
]
Scope = Literal["cascade", "stage", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option."""

    name: str  # on the command line, and in job files without the hyphens before it
    takes: Value
    help: str
    group: Group
    names: tuple[str, ...] = ()  # that it may have, told in the help
    default: str = ""  # what it is when nothing is said, for people
    short: str | None = None  # on the command line
    in_jobs: bool = True  # False: the job has another place for it
    key: str = ""  # its name in Python, where that is not its own
    # Of sampling: `cascade`: of all stages, also of a refiner; `stage`: of stages of the same model; `model`: tells of
    # the network, and goes when another takes its place.
    scope: Scope = "cascade"
    label: str = ""  # in the window, and `help` as its tooltip; empty: the window has no control that derives from it
    unset: float | tuple[float, float] = 0.0  # what a control shows when neither a person nor the model says it

    @property
    def field(self) -> str:
        """Its name in Python."""
        return self.key or self.name.replace("-", "_")

    @property
    def flag(self) -> str:
        """As the command line has it."""
        return f"--{self.name}"

    @property
    def unsaid(self) -> object:
        """What stands for nothing said."""
        if isinstance(self.takes, Listed):
            return ()
        return False if isinstance(self.takes, YesNo) and self.takes.switch else None

    def check(self, value: object) -> None:
        """UsageError for a value that a request must not have: a number out of its limits, a wrong word."""
        try:
            self.takes.read(self.takes.written(value))
        except ValueError as error:
            raise UsageError(f"{self.name.replace('-', ' ')}: {error}") from None

    def fits(self, value: object) -> bool:
        """Whether a request may have the value."""
        try:
            self.check(value)
        except UsageError:
            return False
        return True

    def read_cell(self, cell: object) -> object:
        """The value that a cell of a table states."""
        return self.takes.read(self.takes.typed(cell.strip()) if isinstance(cell, str) else cell)


def option(initial: Any, name: str, takes: Value, **how: Any) -> Any:  # noqa: ANN401  as dataclasses.field
    """A field of a dataclass, declared as an option."""
    return dataclasses.field(default=initial, metadata={"option": Option(name=name, takes=takes, **how)})


@cache
def declared(cls: type) -> Mapping[str, Option]:
    """The options that the fields of a dataclass declare, by field."""
    return {one.name: one.metadata["option"] for one in dataclasses.fields(cls) if "option" in one.metadata}


def translate(context: str, text: str) -> str:  # noqa: ARG001  lupdate looks for it
    """Marks a text that the window shows for its catalogue; the window looks the translation up."""
    return text
