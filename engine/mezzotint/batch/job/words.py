"""The words of a job's settings: those of the command line, each with the values that it may have."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from mezzotint.batch.job.inpainting import SIDES
from mezzotint.batch.job.limits import MAX_COUNT, MAX_GUIDANCE, MAX_PROMPT, MAX_SEED, MAX_STEPS
from mezzotint.batch.job.settings import Options
from mezzotint.errors import UsageError
from mezzotint.protocol import (
    Attention,
    CudaGraphs,
    Dtype,
    InpaintArea,
    InpaintFill,
    LoraRef,
    MemoryPolicy,
    PredictionType,
    Quantization,
    Space,
    Upscaler,
)

_MOST_PATH = 4096

_SIZE = re.compile(r"([0-9]{1,6})[xX\u00d7]([0-9]{1,6})")
_MEMORY = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?([gm])i?b", re.IGNORECASE)
_PIXELS = re.compile(r"[0-9]{1,6}")
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

Kind = Literal["integer", "number", "yes or no", "text", "list"]
Read = Callable[[object], Any]  # the value of the option, or a ValueError that says what would be right


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One setting."""

    name: str  # as on the command line, without the hyphens before it
    kind: Kind
    read: Read

    @property
    def field(self) -> str:
        """Its name among the options."""
        return self.name.replace("-", "_")

    def read_cell(self, cell: object) -> object:
        """The value that a cell of a table writes."""
        return self.read(_typed(cell.strip(), self.kind) if isinstance(cell, str) else cell)


def said_settings(options: Options) -> dict[str, object]:
    """The settings that options say, as a job file writes them."""
    plain = Options()
    return {
        word.name: _written(getattr(options, word.field))
        for word in WORDS.values()
        if getattr(options, word.field) != getattr(plain, word.field)
    }


def _written(value: object) -> object:
    match value:
        case (int(width), int(height)):
            return f"{width}x{height}"
        case (int(), int(), int(), int()):
            return ",".join(map(str, value))
        case tuple():
            return [f"{one.path}:{one.weight!r}" if isinstance(one, LoraRef) else one for one in value]
    return value


def read_settings(said: Mapping[str, object], problem: Callable[[str, str], UsageError]) -> dict[str, Any]:
    """Options by field; `problem` makes the error of a setting that cannot be."""
    found: dict[str, Any] = {}
    for name, value in said.items():
        word = WORDS.get(name)
        if word is None:
            raise problem(name, "")
        try:
            found[word.field] = word.read(value)
        except ValueError as error:
            raise problem(name, str(error)) from None
    return found


def shown(value: object) -> str:
    """A wrong value in a message, on one line."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return "'" + "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text) + "'"


def is_text(value: str) -> bool:
    """Whether it holds whole characters only, and none that controls a terminal."""
    return not any("\ud800" <= one <= "\udfff" or (ord(one) < 32 and one not in "\n\t") for one in value)


# ---- what values may be


def _typed(cell: str, kind: Kind) -> object:
    if kind == "integer" and _INTEGER.fullmatch(cell):
        return int(cell)
    if kind == "number":
        try:
            return float(cell)
        except ValueError:
            return cell
    if kind == "yes or no":
        return _YES_NO.get(cell.lower(), cell)
    return [part.strip() for part in cell.split(";")] if kind == "list" else cell


def _integer(low: int, high: int, example: int) -> Read:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(
                f"{shown(value)} is invalid; expected a whole number from {low} to {high}, such as {example}"
            )
        return value

    return read


def _number(low: float, high: float, example: float, *, inside: bool = False) -> Read:
    def read(value: object) -> float:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else _float(value)
        if not (low < number < high if inside else low <= number <= high):
            span = f"between {low:g} and {high:g}" if inside else f"from {low:g} to {high:g}"
            raise ValueError(f"{shown(value)} is invalid; expected a number {span}, such as {example:g}")
        return number

    return read


def _float(value: float | str) -> float:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _one_of(choices: tuple[str, ...]) -> Read:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{shown(value)} is invalid; expected one of {', '.join(choices)}")
        return value

    return read


def _text(most: int) -> Read:
    def read(value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is not text; write it in quotes")
        if not is_text(value) or len(value) > most:
            raise ValueError(f"{shown(value)} is longer than {most} characters, or holds some that are no text")
        return value

    return read


def _yes_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{shown(value)} is invalid; expected true or false")
    return value


def _size(value: object) -> tuple[int, int]:
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None or not int(match[1]) or not int(match[2]):
        raise ValueError(f"{shown(value)} is not a size; expected width x height in pixels, such as '1024x1024'")
    return int(match[1]), int(match[2])


def _memory(value: object) -> int:
    """With a unit; a bare number is bytes."""
    match = _MEMORY.fullmatch(value.strip()) if isinstance(value, str) else None
    size = round(float(match[1]) * (2**30 if match[2] in "gG" else 2**20)) if match else value
    if isinstance(size, bool) or not isinstance(size, int) or not 2**20 <= size <= 2**50:
        raise ValueError(f"{shown(value)} is not an amount of memory; expected a number and GB or MB, such as '6GB'")
    return size


def _margins(value: object) -> tuple[int, int, int, int]:
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else []
    named = dict(zip(SIDES, parts, strict=True)) if len(parts) == 4 and "=" not in "".join(parts) else _by_name(parts)
    pixels = tuple(int(named.get(side, "0")) if _PIXELS.fullmatch(named.get(side, "0")) else -1 for side in SIDES)
    if min(pixels) < 0 or not any(pixels) or not named.keys() <= set(SIDES):
        raise ValueError(
            f"{shown(value)} is invalid; expected left,top,right,bottom in pixels, such as '0,0,128,64', or sides by "
            "name, such as 'right=128,bottom=64'"
        )
    return pixels[0], pixels[1], pixels[2], pixels[3]


def _by_name(parts: list[str]) -> dict[str, str]:
    pairs = [part.partition("=") for part in parts]
    found = {side.strip(): pixels.strip() for side, _, pixels in pairs}
    return found if len(found) == len(pairs) else {"": ""}


def _list_of(read: Read) -> Read:
    def read_list(value: object) -> tuple[Any, ...]:
        return tuple(read(one) for one in (value if isinstance(value, list | tuple) else [value]))

    return read_list


def _lora(value: object) -> LoraRef:
    words = _text(_MOST_PATH)(value)
    path, _, last = words.rpartition(":")
    weight = _float(last)
    return LoraRef(path=path, weight=weight) if path and math.isfinite(weight) else LoraRef(path=words)


_PATH = _text(_MOST_PATH)
_NAME = _text(200)
_PROMPT = _text(MAX_PROMPT)

_ALL: tuple[tuple[str, Kind, Read], ...] = (
    ("model", "text", _PATH),
    ("weights", "text", _PATH),
    ("negative", "text", _PROMPT),
    ("size", "text", _size),
    ("seed", "integer", _integer(0, MAX_SEED, 7)),
    ("count", "integer", _integer(1, MAX_COUNT, 4)),
    ("steps", "integer", _integer(1, MAX_STEPS, 20)),
    ("guidance", "number", _number(0, MAX_GUIDANCE, 5)),
    ("guidance-rescale", "number", _number(0, 1, 0.7)),
    ("sampler", "text", _NAME),
    ("schedule", "text", _NAME),
    ("clip-skip", "integer", _integer(0, 10, 1)),
    ("prediction-type", "text", _one_of(get_args(PredictionType))),
    ("zero-terminal-snr", "yes or no", _yes_no),
    ("init", "text", _PATH),
    ("strength", "number", _number(0, 1, 0.6)),
    ("mask", "text", _PATH),
    ("inpaint-area", "text", _one_of(get_args(InpaintArea))),
    ("inpaint-padding", "integer", _integer(0, 4096, 32)),
    ("inpaint-feather", "integer", _integer(0, 256, 8)),
    ("inpaint-fill", "text", _one_of(get_args(InpaintFill))),
    ("outpaint", "text", _margins),
    ("refiner", "text", _PATH),
    ("refiner-at", "number", _number(0, 1, 0.8, inside=True)),
    ("hires", "number", _number(1, 4, 1.5)),
    ("hires-strength", "number", _number(0, 1, 0.5)),
    ("hires-space", "text", _one_of(get_args(Space))),
    ("hires-upscaler", "text", _one_of(get_args(Upscaler))),
    ("embedding", "list", _list_of(_PATH)),
    ("lora", "list", _list_of(_lora)),
    ("device", "text", _NAME),
    ("dtype", "text", _one_of(get_args(Dtype))),
    ("attention", "text", _one_of(get_args(Attention))),
    ("cuda-graphs", "text", _one_of(get_args(CudaGraphs))),
    ("quant", "text", _one_of(get_args(Quantization))),
    ("quant-text", "text", _one_of(get_args(Quantization))),
    ("memory", "text", _one_of(get_args(MemoryPolicy))),
    ("vram-limit", "text", _memory),
    ("ram-limit", "text", _memory),
    ("vae-tile", "integer", _integer(0, 8192, 512)),
    ("strict", "yes or no", _yes_no),
    ("compile", "yes or no", _yes_no),
    ("fast", "yes or no", _yes_no),
)
WORDS = {name: Word(name=name, kind=kind, read=read) for name, kind, read in _ALL}
