"""A tag file of A1111's tag completion: CSV of tag, category, count and aliases, the most frequent first."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import read_limited
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.values.basic import is_text

MAX_FILE_BYTES = 32 << 20
MAX_TAGS = 500_000
_LONGEST = 200  # characters of a tag
_LONGEST_ALIASES = 2000


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag; `aliases` has a comma on either side of each."""

    name: str
    count: int
    aliases: str


def read_tags(path: Path) -> tuple[Tag, ...]:
    """Read a tag file. Raises UsageError if it is not one, or too large."""
    try:
        text = read_limited(path, MAX_FILE_BYTES).decode("utf-8-sig", "replace")
    except (ModelRefused, StorageError) as error:
        raise UsageError(f"the tag file cannot be used: {error}") from None
    rows = csv.reader(io.StringIO(text))
    try:
        tags = tuple(islice(_tags(rows), MAX_TAGS))
    except csv.Error as error:
        raise UsageError(f"{plain(path, 300)} is not a CSV file of tags, line {rows.line_num}: {error}") from None
    if not tags:
        raise UsageError(f"{plain(path, 300)} has no tags: each line is a tag, its category, its count and its aliases")
    return tags


def matching(tags: tuple[Tag, ...], word: str, limit: int) -> tuple[tuple[Tag, str], ...]:
    """Tags that begin with a word, then those with such an alias (returned beside it), then those that contain it."""
    wanted = word.strip().lower().replace(" ", "_")
    if not wanted:
        return ()
    begins = [(tag, "") for tag in islice((tag for tag in tags if tag.name.startswith(wanted)), limit)]
    found = {tag.name: (tag, alias) for tag, alias in begins}
    for tags_of in (_of_alias(tags, wanted), ((tag, "") for tag in tags if wanted in tag.name)):
        for tag, alias in tags_of:
            if len(found) >= limit:
                break
            found.setdefault(tag.name, (tag, alias))
    return tuple(found.values())


def _of_alias(tags: tuple[Tag, ...], wanted: str) -> Iterator[tuple[Tag, str]]:
    for tag in tags:
        if (start := tag.aliases.find(f",{wanted}")) >= 0:
            yield tag, tag.aliases[start + 1 :].partition(",")[0]


def _tags(rows: Iterator[list[str]]) -> Iterator[Tag]:
    for row in rows:
        name = row[0].strip().lower() if row else ""
        if not name or len(name) > _LONGEST or not is_text(name):
            continue
        count = row[2] if len(row) > 2 and row[2].isascii() and row[2].isdigit() and len(row[2]) < 16 else "0"
        aliases = row[3].strip().lower() if len(row) > 3 else ""
        kept = aliases if len(aliases) <= _LONGEST_ALIASES and is_text(aliases) else ""
        yield Tag(name, int(count), f",{kept}," if kept else "")
