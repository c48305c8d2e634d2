"""What the words of an option may be; each message says what would be right."""

import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection

from mezzotint.checkpoints.plain_text import plain
from mezzotint.memory.machine.cards import known_card
from mezzotint.protocol import LoraRef

_SIZE = re.compile(r"([0-9]{1,6})[xX\u00d7]([0-9]{1,6})")
_MEMORY = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?([gm])i?b", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")


def text(words: str) -> str:
    """Words that are characters; bytes that are none arrive from a shell as surrogates."""
    try:
        words.encode("utf-8")
    except UnicodeEncodeError:
        raise ArgumentTypeError(
            f"'{plain(words)}' contains bytes that are not valid text in this terminal's encoding"
        ) from None
    return words


def size(words: str) -> tuple[int, int]:
    """WIDTHxHEIGHT in pixels."""
    match = _SIZE.fullmatch(words)
    if match is None or not int(match[1]) or not int(match[2]):
        raise ArgumentTypeError(f"'{plain(words)}' is not a size; expected width x height in pixels, such as 1024x1024")
    return int(match[1]), int(match[2])


def memory_size(words: str) -> int:
    """Bytes, of a number with its unit: 6GB, 6.5 GB, 512MB; a GB is 2^30 bytes."""
    match = _MEMORY.fullmatch(words.strip())
    size = round(float(match[1]) * (2**30 if match[2] in "gG" else 2**20)) if match else 0
    if not 2**20 <= size <= 2**50:
        raise ArgumentTypeError(
            f"'{plain(words)}' is not an amount of memory; expected a number and GB or MB, such as 6GB"
        )
    return size


def card_memory(words: str) -> tuple[int, str | None]:
    """Bytes, of an amount or of a card by its name, and that name: 6GB, `8 GB card`, `RTX 4090`."""
    card = known_card(words)
    if card is not None:
        return card.vram_bytes, card.name
    try:
        return memory_size(words.strip().removesuffix("card")), None
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"'{plain(words)}' is neither an amount of memory nor a known card; expected a number and GB or MB, such "
            "as "
            "6GB, or a card, such as 'RTX 4090'"
        ) from None


def names_of(known: Collection[str], what: str) -> Callable[[str], tuple[str, ...]]:
    """Some of the known names, with commas between."""

    def parse(words: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name.strip() for name in words.split(",")))
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ArgumentTypeError(f"'{plain(unknown[0])}' is not a {what}; expected one of {', '.join(known)}")
        return names

    return parse


def integer(low: int, high: int, example: int) -> Callable[[str], int]:
    """Whole numbers from `low` to `high`."""

    def parse(words: str) -> int:
        number = int(words) if _INTEGER.fullmatch(words) else None
        if number is None or not low <= number <= high:
            raise ArgumentTypeError(
                f"'{plain(words)}' is invalid; expected a whole number from {low} to {high}, such as {example}"
            )
        return number

    return parse


def number(low: float, high: float, example: float, *, inside: bool = False) -> Callable[[str], float]:
    """Numbers from `low` to `high`; `inside`: not these two themselves."""

    def parse(words: str) -> float:
        value = _float(words)
        fits = low < value < high if inside else low <= value <= high  # false for NaN
        if not fits:
            span = f"between {low:g} and {high:g}" if inside else f"from {low:g} to {high:g}"
            raise ArgumentTypeError(f"'{plain(words)}' is invalid; expected a number {span}, such as {example:g}")
        return value

    return parse


def lora(words: str) -> LoraRef:
    """FILE or FILE:WEIGHT; the colon after the letter of a Windows drive is no such colon."""
    path, colon, last = words.rpartition(":")
    if path and math.isfinite(_float(last)):
        return LoraRef(path=path, weight=_float(last))
    if colon and path.lower().endswith(".safetensors"):
        raise ArgumentTypeError(
            f"'{plain(last)}' is not a weight; expected a file and a number, such as style.safetensors:0.8"
        )
    return LoraRef(path=words)


def _float(words: str) -> float:
    try:
        return float(words)
    except ValueError:
        return math.nan
