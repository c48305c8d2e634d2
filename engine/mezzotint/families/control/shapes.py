"""The shapes of a file's tensors, from which the configuration of its network is derived."""

import re
from collections.abc import Mapping
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused

Config = dict[str, object]

_MOST = 64  # levels, layers and transformer blocks


class NamedShapes:
    """The shapes of tensors by their names."""

    def __init__(self, by_name: Mapping[str, tuple[int, ...]], path: Path, what: str) -> None:
        """`what`: what they are to be, for errors, such as "a ControlNet"."""
        self.by_name, self._path, self._what = by_name, path, what

    def of(self, name: str, rank: int) -> tuple[int, ...]:
        """Shape of a tensor; raises ModelRefused if it is missing or has another rank."""
        found = self.by_name.get(name, ())
        if len(found) != rank or not all(found):
            said = f"has the shape {found}" if name in self.by_name else "is missing"
            raise ModelRefused(f"{plain(self._path, 300)}: not laid out as {self._what} is: {name} {said}")
        return found

    def count(self, pattern: str, *, first: int = 0, step: int = 1, most: int = _MOST) -> range:
        """The numbers of blocks, which `pattern` captures; raises ModelRefused if they have gaps or are too many."""
        found = {int(match[1]) for match in map(re.compile(pattern).match, self.by_name) if match}
        wanted = range(first, first + step * len(found), step)
        if found != set(wanted) or len(found) > most:
            raise ModelRefused(f"{plain(self._path, 300)}: the numbers of its blocks have gaps or are too many")
        return wanted

    def first(self, pattern: str) -> str | None:
        """The first name that matches."""
        return next(filter(re.compile(pattern).fullmatch, sorted(self.by_name)), None)
