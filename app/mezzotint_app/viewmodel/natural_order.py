"""Names in the order that people count: 2 before 10."""

import re

_NUMBERS = re.compile(r"(\d+)")

Key = tuple[tuple[int, int, str], ...]


def natural(name: str) -> Key:
    """A sort key by which 2 comes before 10."""
    return tuple(_part(part) for part in _NUMBERS.split(name.casefold()))


def _part(part: str) -> tuple[int, int, str]:
    """Numbers by length and then by digits: no number is too long."""
    if part.isdigit():
        digits = part.lstrip("0")
        return (0, len(digits), digits)
    return (1, 0, part)
