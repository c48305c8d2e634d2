"""Types of option values: how each is read from a job file, a command line word or a table cell, and written.

ValueErrors say what would be valid. Standard library only.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

MAX_PATH = 4096  # characters

Kind = Literal["integer", "number", "yes or no", "text", "list"]

_SIZE = re.compile(r"([0-9]{1,6})[xX\u00d7]([0-9]{1,6})")
_MEMORY = re.compile(r"([0-9]{1,10}(?:\.[0-9]{1,6})?) ?([gm])i?b", re.IGNORECASE)
_PIXELS = re.compile(r"[0-9]{1,6}")
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

SIDES = ("left", "top", "right", "bottom")
Margins = tuple[int, int, int, int]  # pixels, in the order of SIDES

TokenMethod = Literal["todo", "merge"]
TokenReduction: TypeAlias = tuple[TokenMethod, float]  # the part of the tokens that is removed, 0 to MAX_TOKEN_RATIO
DeepShrink: TypeAlias = tuple[float, float]  # factor by which features shrink, and until which part of the schedule

TOKEN_RATIOS: dict[TokenMethod, float] = {"todo": 0.75, "merge": 0.5}  # as published: every second row and column; half
MAX_TOKEN_RATIO = 0.95
MAX_SHRINK = 4.0
SHRINK_UNTIL = 0.35


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
class WordOrFile(Path):
    """One of several words, or a file; a file with such a name needs its folder, as in ./auto."""

    words: tuple[str, ...] = ()

    def read(self, value: object) -> str:
        """The word or path."""
        if value == "":
            raise ValueError(f"'' is invalid; expected one of {', '.join(self.words)}, or a file")
        return Path.read(self, value)


@dataclass(frozen=True, slots=True)
class PixelSize(Value):
    """Width and height in pixels."""

    metavar: str = "WxH"
    kind: Kind = "text"

    def read(self, value: object) -> tuple[int, int]:
        """`WIDTHxHEIGHT`."""
        match = _SIZE.fullmatch(value) if isinstance(value, str) else None
        if match is None or not int(match[1]) or not int(match[2]):
            raise ValueError(f"{shown(value)} is not a size; expected width x height in pixels, such as 1024x1024")
        return int(match[1]), int(match[2])

    def to_setting(self, value: tuple[int, int]) -> str:
        """`WIDTHxHEIGHT`."""
        return f"{value[0]}x{value[1]}"

    def to_arguments(self, value: tuple[int, int]) -> list[str]:
        """`WIDTHxHEIGHT`."""
        return [self.to_setting(value)]


@dataclass(frozen=True, slots=True)
class MemorySize(Value):
    """Bytes; a GB is 2^30 of them."""

    metavar: str = "SIZE"
    kind: Kind = "text"

    def read(self, value: object) -> int:
        """A number with a unit; a bare integer is bytes, as programs write it."""
        match = _MEMORY.fullmatch(value.strip()) if isinstance(value, str) else None
        size = round(float(match[1]) * (2**30 if match[2] in "gG" else 2**20)) if match else value
        if isinstance(size, bool) or not isinstance(size, int) or not 2**20 <= size <= 2**50:
            raise ValueError(f"{shown(value)} is not an amount of memory; expected a number and GB or MB, such as 6GB")
        return size

    def to_arguments(self, value: int) -> list[str]:
        """In GB if that is a whole number, else in MB."""
        if value % 2**30 == 0:
            return [f"{value >> 30}GB"]
        return [f"{value / 2**20:.6f}".rstrip("0").rstrip(".") + "MB"]


@dataclass(frozen=True, slots=True)
class MarginSizes(Value):
    """Pixels on the four sides."""

    metavar: str = "L,T,R,B"
    kind: Kind = "text"

    def read(self, value: object) -> Margins:
        """LEFT,TOP,RIGHT,BOTTOM, or sides by name."""
        parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else []
        in_order = len(parts) == len(SIDES) and not any("=" in part for part in parts)
        named = dict(zip(SIDES, parts, strict=True)) if in_order else _by_name(parts)
        pixels = [int(named.get(side, "0")) if _PIXELS.fullmatch(named.get(side, "0")) else -1 for side in SIDES]
        if min(pixels) < 0 or not named.keys() <= set(SIDES):
            raise ValueError(
                f"{shown(value)} is invalid; expected LEFT,TOP,RIGHT,BOTTOM in pixels, such as 0,0,128,64, or sides by "
                "name, each once, such as right=128,bottom=64"
            )
        if not any(pixels):
            raise ValueError(f"{shown(value)} does not extend the image; give at least one side some pixels")
        return pixels[0], pixels[1], pixels[2], pixels[3]

    def to_setting(self, value: Margins) -> str:
        """LEFT,TOP,RIGHT,BOTTOM in pixels."""
        return ",".join(map(str, value))

    def to_arguments(self, value: Margins) -> list[str]:
        """LEFT,TOP,RIGHT,BOTTOM in pixels."""
        return [self.to_setting(value)]


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


@dataclass(frozen=True, slots=True)
class TokenReductionValue(Value):
    """A method of token reduction and the part of the tokens that it removes."""

    metavar: str = "todo|merge[:RATIO]"
    kind: Kind = "text"

    def read(self, value: object) -> TokenReduction:
        """Method and ratio, by default as published."""
        name, colon, ratio = value.partition(":") if isinstance(value, str) else ("", "", "")
        part = to_float(ratio.strip() or math.nan) if colon else TOKEN_RATIOS.get(cast(TokenMethod, name.strip()))
        if name.strip() not in get_args(TokenMethod) or part is None or not 0.0 <= part <= MAX_TOKEN_RATIO:
            raise ValueError(
                f"{shown(value)} is invalid; expected todo or merge, and optionally the part of the tokens to remove, "
                f"0 to {MAX_TOKEN_RATIO}, such as todo:0.75"
            )
        return cast(TokenMethod, name.strip()), part

    def to_setting(self, value: TokenReduction) -> str:
        """METHOD:RATIO."""
        return f"{value[0]}:{plain_number(value[1])}"

    def to_arguments(self, value: TokenReduction) -> list[str]:
        """METHOD:RATIO."""
        return [self.to_setting(value)]


@dataclass(frozen=True, slots=True)
class DeepShrinkValue(Value):
    """A factor, and the part of the schedule until which features are shrunk."""

    metavar: str = "FACTOR[:UNTIL]"
    kind: Kind = "text"

    def read(self, value: object) -> DeepShrink:
        """Factor and part of the schedule."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        text = str(value) if is_number or isinstance(value, str) else ""
        first, colon, last = text.partition(":")
        factor = to_float(first.strip() or math.nan)
        until = to_float(last.strip() or math.nan) if colon else SHRINK_UNTIL
        if not (1.0 <= factor <= MAX_SHRINK and 0.0 <= until <= 1.0):
            raise ValueError(
                f"{shown(value)} is invalid; expected a factor from 1 to {MAX_SHRINK:g}, and optionally the part of "
                f"the schedule until which it applies, 0 to 1, such as 2:{SHRINK_UNTIL}"
            )
        return factor, until

    def to_setting(self, value: DeepShrink) -> str:
        """FACTOR:UNTIL."""
        return ":".join(map(plain_number, value))

    def to_arguments(self, value: DeepShrink) -> list[str]:
        """FACTOR:UNTIL."""
        return [self.to_setting(value)]


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


def _by_name(parts: list[str]) -> dict[str, str]:
    pairs = [part.partition("=") for part in parts]
    found = {side.strip(): pixels.strip() for side, _, pixels in pairs}
    return found if parts and len(found) == len(pairs) else {"": ""}
