"""Natural sort order of names: 2 before 10."""

import re

_NUMBERS = re.compile(r"(\d+)")

Key = tuple[tuple[int, int, str], ...]


def natural(name: str) -> Key:
    """Return a natural sort key: 2 comes before 10."""
    return tuple(_part(part) for part in _NUMBERS.split(name.casefold()))


def _part(part: str) -> tuple[int, int, str]:
    """Compare numbers by length, then by digits, so that their size is unlimited."""
    if part.isdigit():
        digits = part.lstrip("0")
        return (0, len(digits), digits)
    return (1, 0, part)
