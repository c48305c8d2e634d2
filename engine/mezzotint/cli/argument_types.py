"""argparse types of option values; every error message says what is expected."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Collection
from typing import Any

from mezzotint.checkpoints.plain_text import plain
from mezzotint.memory.machine.cards import known_card
from mezzotint.request_protocol import MAX_PROMPT
from mezzotint.values.basic import Integer, Text, Value
from mezzotint.values.sizes import MemorySize, PixelSize


def argument(takes: Value) -> Callable[[str], Any]:
    """Wrap a `Value` as an argparse type function."""

    def parse(words: str) -> Any:  # noqa: ANN401  the type depends on the `Value`
        try:
            return takes.parse(words)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    return parse


def integer(low: int, high: int, example: int) -> Callable[[str], int]:
    """Return an argparse type for integers from `low` to `high`; `example` appears in error messages."""
    return argument(Integer(low, high, example))


text: Callable[[str], str] = argument(Text(MAX_PROMPT))
size: Callable[[str], tuple[int, int]] = argument(PixelSize())
memory_size: Callable[[str], int] = argument(MemorySize())


def card_memory(words: str) -> tuple[int, str | None]:
    """Parse an amount of memory or the name of a GPU (6GB, `8 GB card`, `RTX 4090`) into bytes and the name, if any."""
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
    """Return an argparse type for a comma-separated list of names from `known`; `what` names them in errors."""

    def parse(words: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name.strip() for name in words.split(",")))
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ArgumentTypeError(f"'{plain(unknown[0])}' is not a {what}; expected one of {', '.join(known)}")
        return names

    return parse
