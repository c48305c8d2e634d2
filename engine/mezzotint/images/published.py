"""What an image says of files: their names and hashes, but no folders, since these tell who made it, and where."""

import re
from dataclasses import fields, is_dataclass, replace
from pathlib import PureWindowsPath
from typing import Any, TypeVar

Record = TypeVar("Record")

_ABSOLUTE = re.compile(r"(/|~[\\/]|\\\\|[A-Za-z]:[\\/])")
_WORDS = frozenset({"prompt", "negative_prompt", "label"})  # fields that may begin with a slash by themselves


def without_folders(record: Record) -> Record:
    """The same dataclass with the last part of each absolute path in it, on whatever system it was written."""
    changed: Record = _shortened(record)
    return changed


def is_absolute(text: str) -> bool:
    """Whether a text is a path from the root of some system, or from a home."""
    return _ABSOLUTE.match(text) is not None


def last_part(path: str) -> str:
    """The name of a file or folder, with the separators of any system."""
    return PureWindowsPath(path).name or path


def _shortened(value: Any) -> Any:  # noqa: ANN401  any value of the boundary
    if isinstance(value, str):
        return last_part(value) if is_absolute(value) else value
    if isinstance(value, tuple):
        return tuple(map(_shortened, value))
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    held = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in _WORDS}
    found = {name: _shortened(each) for name, each in held.items()}
    return replace(value, **{name: each for name, each in found.items() if each != held[name]})
