"""Types of option values: how each is read from a job file, a command line word or a table cell, and written.

ValueErrors say what would be valid. Standard library only.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

MAX_PATH = 4096  # characters

Kind = Literal["integer", "number", "yes or no", "text", "list"]

_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Value:
    """The type of an option's value; text by default."""

    kind: Kind = "text"
    metavar: str = "TEXT"

    def read(self, value: object) -> Any:  # noqa: ANN401  each kind has its own type
        """Parse a value from a job file."""
        raise ValueError(f"{shown(value)} cannot be read")

    def from_text(self, cell: str) -> object:
        """Convert a command line word or a table cell to its job file form."""
        return cell

    def parse(self, word: str) -> Any:  # noqa: ANN401
        """Parse a value from a command line word."""
        return self.read(self.from_text(word))

    def to_setting(self, value: Any) -> object:  # noqa: ANN401
        """The value in job file form."""
        return value

    def to_arguments(self, value: Any) -> list[str]:  # noqa: ANN401
        """The value as command line words; several for a repeated option."""
        return [str(value)]


@dataclass(frozen=True, slots=True)
class Integer(Value):
    """Integers from `low` to `high`."""

    low: int
    high: int
    example: int
    usual: int | None = None  # where a slider ends
    metavar: str = "N"
    kind: Kind = "integer"

    def read(self, value: object) -> int:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise ValueError(
                f"{shown(value)} is invalid; expected a whole number from {self.low} to {self.high}, "
                f"such as {self.example}"
            )
        return value

    def from_text(self, cell: str) -> object:
        """Convert digits to a number."""
        return int(cell) if _INTEGER.fullmatch(cell) else cell


@dataclass(frozen=True, slots=True)
class Number(Value):
    """Numbers from `low` to `high`; `inside` excludes both bounds."""

    low: float
    high: float
    example: float
    inside: bool = False
    usual: float | None = None  # where a slider ends
    step: float = 0.05
    metavar: str = "0..1"
    kind: Kind = "number"

    def read(self, value: object) -> float:
        """The number; job files may give it as an integer."""
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else to_float(value)
        fits = self.low < number < self.high if self.inside else self.low <= number <= self.high  # false for NaN
        if not fits:
            span = f"between {self.low:g} and {self.high:g}" if self.inside else f"from {self.low:g} to {self.high:g}"
            raise ValueError(f"{shown(value)} is invalid; expected a number {span}, such as {self.example:g}")
        return number

    def from_text(self, cell: str) -> object:
        """Convert a cell to a number."""
        number = to_float(cell)
        return cell if math.isnan(number) else number

    def to_arguments(self, value: float) -> list[str]:
        """Format without a fraction if it is an integer."""
        return [plain_number(value)]


@dataclass(frozen=True, slots=True)
class Interval(Value):
    """A range `START:END`, both from 0 to 1."""

    example: str = "0.2:0.8"
    step: float = 0.05
    metavar: str = "START:END"
    kind: Kind = "text"

    def read(self, value: object) -> tuple[float, float]:
        """Start and end."""
        start, colon, end = value.partition(":") if isinstance(value, str) else ("", "", "")
        low, high = to_float(start.strip() or math.nan), to_float(end.strip() or math.nan)
        if not colon or not 0.0 <= low < high <= 1.0:
            raise ValueError(
                f"{shown(value)} is invalid; expected START:END, two numbers from 0 to 1, such as {self.example}"
            )
        return low, high

    def to_setting(self, value: tuple[float, float]) -> str:
        """`START:END`."""
        return ":".join(map(plain_number, value))

    def to_arguments(self, value: tuple[float, float]) -> list[str]:
        """`START:END`."""
        return [self.to_setting(value)]


@dataclass(frozen=True, slots=True)
class Choice(Value):
    """One of several words; `earlier` ones are still read and mapped to current ones."""

    choices: tuple[str, ...]
    metavar: str = ""
    kind: Kind = "text"
    earlier: Mapping[str, str] = field(default_factory=dict)

    def read(self, value: object) -> str:
        """The word."""
        current = self.current(value) if isinstance(value, str) else None
        if current not in self.choices:
            raise ValueError(f"{shown(value)} is invalid; expected one of {', '.join(self.choices)}")
        return current

    def current(self, word: str) -> str:
        """The current word for one of an earlier version; any other unchanged."""
        return self.earlier.get(word, word)


def one_of(literal: Any, earlier: Mapping[str, str] | None = None) -> Choice:  # noqa: ANN401  a Literal
    """The words of a Literal, with those of earlier versions mapped to them."""
    return Choice(get_args(literal), earlier=earlier or {})


@dataclass(frozen=True, slots=True)
class YesNo(Value):
    """True or false; `switch`: false means not set."""

    switch: bool = False
    metavar: str = ""
    kind: Kind = "yes or no"

    def read(self, value: object) -> bool:
        """The boolean."""
        if not isinstance(value, bool):
            raise ValueError(f"{shown(value)} is invalid; expected true or false")
        return value

    def from_text(self, cell: str) -> object:
        """Convert a word to a boolean."""
        return _YES_NO.get(cell.lower(), cell)


@dataclass(frozen=True, slots=True)
class Text(Value):
    """Text of at most `most` characters, without terminal control characters."""

    most: int
    metavar: str = "TEXT"
    kind: Kind = "text"

    def read(self, value: object) -> str:
        """The text."""
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is not text; write it in quotes")
        if not is_text(value) or len(value) > self.most:
            raise ValueError(f"{shown(value)} is longer than {self.most} characters, or contains invalid ones")
        return value

    def parse(self, word: str) -> str:
        """The text; refuses undecodable bytes, which arrive from a shell as surrogates."""
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"{shown(word)} contains bytes that are not valid text in this terminal's encoding"
            ) from None
        return word


@dataclass(frozen=True, slots=True)
class Path(Text):
    """A file or folder; on the command line its name may be undecodable."""

    most: int = MAX_PATH
    metavar: str = "FILE"

    def parse(self, word: str) -> str:
        """The word unchanged."""
        return word


@dataclass(frozen=True, slots=True)
class ModelName(Path):
    """The id of a model, or its path."""

    metavar: str = "MODEL"


@dataclass(frozen=True, slots=True)
class StyleName(Text):
    """The name of a style."""

    most: int = 100
    metavar: str = "NAME"


@dataclass(frozen=True, slots=True)
class WordOrFile(Path):
    """One of several words, or a file; a file with such a name needs its folder, as in ./auto."""

    words: tuple[str, ...] = ()

    def read(self, value: object) -> str:
        """The word or path."""
        if value == "":
            raise ValueError(f"'' is invalid; expected one of {', '.join(self.words)}, or a file")
        return Path.read(self, value)


@dataclass(frozen=True, slots=True)
class NameOrFile(WordOrFile):
    """One of several words, a name that something is found by, or a file."""

    def read(self, value: object) -> str:
        """The word, name or path."""
        if value == "":
            raise ValueError("'' is invalid; expected a name or a file")
        return Path.read(self, value)


@dataclass(frozen=True, slots=True)
class Listed(Value):
    """Several values of one type: a repeated command line option, or a cell divided by semicolons."""

    each: Value
    kind: Kind = "list"

    @property
    def metavar(self) -> str:  # type: ignore[override]
        """The metavar of each value."""
        return self.each.metavar

    def read(self, value: object) -> tuple[Any, ...]:
        """All values; a single one needs no list."""
        return tuple(self.each.read(one) for one in (value if isinstance(value, list | tuple) else [value]))

    def from_text(self, cell: str) -> object:
        """Split at semicolons."""
        return [part.strip() for part in cell.split(";")]

    def parse(self, word: str) -> Any:  # noqa: ANN401
        """One value."""
        return self.each.parse(word)

    def to_setting(self, value: tuple[Any, ...]) -> list[object]:
        """A list."""
        return [self.each.to_setting(one) for one in value]

    def to_arguments(self, value: tuple[Any, ...]) -> list[str]:
        """The words of all values."""
        return [word for one in value for word in self.each.to_arguments(one)]


def shown(value: object) -> str:
    """An invalid value for a message, on one line."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return "'" + "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text) + "'"


def is_text(value: str) -> bool:
    """Whether the text has no lone surrogates or terminal control characters."""
    return not any("\ud800" <= one <= "\udfff" or (ord(one) < 32 and one not in "\n\t") for one in value)


def plain_number(value: float) -> str:
    """Format without a fraction if it is an integer."""
    return repr(int(value)) if float(value).is_integer() else repr(value)


def to_float(value: float | str) -> float:
    """The number, or NaN if it is none."""
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan
