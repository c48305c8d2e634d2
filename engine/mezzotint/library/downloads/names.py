"""Names of files that come from the net: which may be written below a folder, on every system."""

import re

LONGEST = 120  # characters of one name
DEEPEST = 4
_PART = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9 ._+()-]*[A-Za-z0-9_+)])?")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{digit}" for name in ("com", "lpt") for digit in "0123456789")}


def is_confined(name: str) -> bool:
    """Whether the name leads to one file below its folder, on Windows too, and looks like what it is."""
    parts = name.split("/")
    return len(parts) <= DEEPEST and all(_is_plain(part) for part in parts)


def _is_plain(part: str) -> bool:
    return (
        len(part) <= LONGEST
        and _PART.fullmatch(part) is not None
        and ".." not in part
        and part.split(".")[0].strip().lower() not in _RESERVED
    )


def without_twins(names: tuple[str, ...]) -> bool:
    """Whether no two are one where upper and lower case are not told apart."""
    return len({name.casefold() for name in names}) == len(names)
