"""The subjects of the scenes: each thing's name, other names, code point, and how it stands in a scene."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mezzotint.errors import StorageError
from mezzotint_starter.scenes import table
from mezzotint_starter.scenes.archive import read_members
from mezzotint_starter.scenes.sources import NAMES, archive_of

_DATA = "package/en/data.json"
_SHORT_NAMES = tuple(f"package/en/shortcodes/{name}.json" for name in ("emojibase", "github", "iamcal", "joypixels"))
_NOT_NAMES, _NOT_IN_NAMES = (frozenset(words.split()) for words in (table.NOT_NAMES, table.NOT_IN_NAMES))
STANCES = {"standing": table.STANDING, "flying": table.FLYING, "floating": table.FLOATING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One thing that scenes show: its code point as emojibase writes it, its names, and where it is at home."""

    code: str
    name: str
    synonyms: tuple[str, ...]
    stance: str
    coloured: bool  # is drawn in other colours as well


def read_subjects(folder: Path) -> tuple[Subject, ...]:
    """Return all subjects of the table, in its order; fetches the names if they are missing. Raises StorageError."""
    content = read_members(archive_of(NAMES, folder), (_DATA, *_SHORT_NAMES))
    parsed = {name: json.loads(data) for name, data in content.items()}
    return subjects_of(parsed[_DATA], [parsed[name] for name in _SHORT_NAMES])


def subjects_of(labelled: Sequence[Mapping[str, Any]], short_names: Sequence[Mapping[str, Any]]) -> tuple[Subject, ...]:
    """Return the subjects from emojibase's labels and its tables of short names by code point."""
    codes = {str(entry["label"]): str(entry["hexcode"]) for entry in labelled}
    chosen = [(*entry, stance) for stance, text in STANCES.items() for entry in entries(text)]
    if missing := sorted({label for label, _, _ in chosen} - codes.keys()):
        raise StorageError(f"{NAMES.package} {NAMES.version} has no {missing[0]!r}")
    others = {label: _others(label, name, codes[label], short_names) for label, name, _ in chosen}
    uses = Counter(word for label, name, _ in chosen for word in {name, *others[label]})
    coloured = {name for _, name in entries(table.COLOURED)}
    return tuple(
        Subject(
            code=codes[label],
            name=name,
            synonyms=tuple(word for word in others[label] if uses[word] == 1),
            stance=stance,
            coloured=name in coloured,
        )
        for label, name, stance in chosen
    )


def entries(text: str) -> list[tuple[str, str]]:
    """Return the entries of a part of the table as (label, name)."""
    words = [" ".join(entry.split()) for entry in text.replace("\n\n", ",").split(",")]
    pairs = [word.partition("=") for word in words if word]
    return [(label, name or label) for label, _, name in pairs]


def _others(label: str, name: str, code: str, short_names: Sequence[Mapping[str, Any]]) -> list[str]:
    found = [label]
    for names in short_names:
        given = names.get(code, ())
        found += [given] if isinstance(given, str) else given
    words = dict.fromkeys(word.replace("_", " ") for word in found)
    without_mark = label.replace("\N{RIGHT SINGLE QUOTATION MARK}", "")
    same = {name} if without_mark == label else {name, without_mark}
    return [word for word in words if word not in same and word.replace(" ", "").isalpha() and _is_name(word)]


def _is_name(words: str) -> bool:
    return words not in _NOT_NAMES and not _NOT_IN_NAMES & set(words.split())
