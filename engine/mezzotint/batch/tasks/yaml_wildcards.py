"""Wildcards in YAML files: `clothes: {hats: [cap, beret]}` is `__clothes/hats__`, as in other programs."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import read_limited
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.values.basic import is_text

_SUFFIXES = (".yaml", ".yml")
_DEEPEST = 8  # folders, and names within a file
_MOST_BYTES = 1 << 20  # of a file: YAML is read slowly
_MOST_FILES = 200
_MOST_LINES = 100_000


def yaml_wildcards(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the lines of all wildcards in the YAML files of a folder, by name. Raises UsageError."""
    found: dict[str, tuple[str, ...]] = {}
    for path in _files(folder):
        for name, lines in _lists(_document(path), ()):
            found[name] = (*found.get(name, ()), *lines)[:_MOST_LINES]
    return found


def _files(root: Path) -> list[Path]:
    found: list[Path] = []
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(inner) if len(Path(folder).relative_to(root).parts) < _DEEPEST else []
        found += [Path(folder) / name for name in sorted(names) if name.lower().endswith(_SUFFIXES)]
    inside = root.resolve()
    return [path for path in found[:_MOST_FILES] if path.resolve().is_relative_to(inside)]


def _document(path: Path) -> object:
    import yaml

    class Loader(yaml.SafeLoader):
        """Without aliases, by which a small file may contain any number of lines."""

        def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401  as the loader has it
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("it has aliases, which wildcards cannot have")
            return super().compose_node(parent, index)

    try:
        return Loader(read_limited(path, _MOST_BYTES)).get_single_data()
    except (ModelRefused, StorageError, OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"the wildcards in {plain(path, 200)} cannot be read: {plain(error, 300)}") from None


def _lists(value: object, within: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(value, dict) and len(within) < _DEEPEST:
        for name, inner in value.items():
            yield from _lists(inner, (*within, str(name).strip()))
    elif isinstance(value, list):
        lines = (str(one).strip() for one in value if isinstance(one, str | int | float))
        kept = tuple(line for line in lines if line and is_text(line))
        if kept and within:
            yield "/".join(within), kept
    elif isinstance(value, str | int | float) and within and is_text(str(value)):
        yield "/".join(within), (str(value).strip(),)
