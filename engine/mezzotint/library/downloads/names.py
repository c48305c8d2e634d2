"""Validation of file names from the network: which may be written below a folder, on every operating system."""

import re

LONGEST = 120  # characters per path component
DEEPEST = 4
_PART = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9 ._+()-]*[A-Za-z0-9_+)])?")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{digit}" for name in ("com", "lpt") for digit in "0123456789")}


def is_confined(name: str) -> bool:
    """Whether `name` is a plain path that stays below its folder on every system, Windows included."""
    parts = name.split("/")
    return len(parts) <= DEEPEST and all(_is_plain(part) for part in parts)


def _is_plain(part: str) -> bool:
    return (
        len(part) <= LONGEST
        and _PART.fullmatch(part) is not None
        and ".." not in part
        and part.split(".")[0].strip().lower() not in _RESERVED
    )


def has_case_collisions(names: tuple[str, ...]) -> bool:
    """Whether two names are the same file on a case-insensitive file system."""
    return len({name.casefold() for name in names}) < len(names)
