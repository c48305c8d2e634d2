"""The rows of a job: prompts from a list, a file or a table, one at a time."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mezzotint.batch.job.job import Prompts
from mezzotint.batch.tasks.columns import Columns, read_columns
from mezzotint.batch.tasks.skipped import Skipped
from mezzotint.batch.tasks.tables import Cell, TableRow, lines_of, read_table
from mezzotint.batch.tasks.wildcards import Wildcards
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError
from mezzotint.images.naming import from_home
from mezzotint.parsed import Parsed, enumerated
from mezzotint.request_protocol import MAX_PROMPT
from mezzotint.values.basic import is_text, shown

_FIELD = re.compile(r"\{([^\W\d][\w -]{0,60})\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A prompt before its choices are expanded, and the settings of its table row."""

    number: int  # among all rows of the job, from 1
    where: str  # for messages
    text: str | None  # None: the image must have its own prompt
    settings: Mapping[str, Any] = field(default_factory=dict)  # options by field name
    fields: Mapping[str, str] = field(default_factory=dict)  # values for {column} in the prompt

    def identity(self) -> list[object]:
        """Return what identifies the row, whatever its position."""
        return [self.text, sorted(self.fields.items())]


def rows_of(prompts: Prompts, base: Path, named: frozenset[str] = frozenset()) -> Iterator[Row | Skipped]:
    """Yield every row of a job whose file is in `base`; one row without a prompt if the job has none.

    `named`: columns that the names of outputs have as tokens.
    """
    number = 0
    for found in _sources(prompts, base, named):
        number += 1
        if isinstance(found, Skipped):
            yield found
            continue
        where, text, settings, fields = found
        if text is not None and (len(text) > MAX_PROMPT or not is_text(text)):
            reason = f"the prompt has {len(text)} characters (at most {MAX_PROMPT} are allowed), or is not valid text"
            yield Skipped(input=where, reason=reason, kind="usage")
        else:
            yield Row(number=number, where=where, text=text, settings=settings, fields=fields)
    if not (prompts.list or prompts.file or prompts.table):
        yield Row(number=1, where="the job", text=None)


def texts_of(row: Row, prompts: Prompts, wildcards: Wildcards) -> tuple[str, ...]:
    """Return every prompt of a row; with choices = "one" the row's own text, from which `drawn_text` draws."""
    if row.text is None:
        return ("",)
    texts = wildcards.every(row.text) if prompts.choices == "all" else (row.text,)
    return tuple(filled(text, row.fields) for text in texts) if prompts.choices == "all" else texts


def drawn_text(text: str, seed: int, row: Row, prompts: Prompts, wildcards: Wildcards) -> str:
    """Return the prompt of one image."""
    return filled(wildcards.drawn(text, seed), row.fields) if prompts.choices == "one" else text


def filled(text: str, fields: Mapping[str, str]) -> str:
    """Replace each {column} in a text with the row's cell, whose contents are literal."""
    return _FIELD.sub(lambda found: fields.get(found[1], found[0]), text) if fields else text


_Found = tuple[str, str | None, dict[str, Any], dict[str, str]]


def _sources(prompts: Prompts, base: Path, named: frozenset[str]) -> Iterator[_Found | Skipped]:
    for number, text in enumerate(prompts.list, 1):
        yield f"prompt {number} of the list", text, {}, {}
    if prompts.file is not None:
        yield from _lines(prompts.file, base)
    if prompts.table is not None:
        yield from _table(prompts, prompts.table, base, named)


def _lines(name: str, base: Path) -> Iterator[_Found | Skipped]:
    """Yield a prompt per line; skips empty lines and those that begin with #."""
    for number, line in enumerate(lines_of(base / from_home(name)), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield f"{plain(Path(name).name)}, line {number}", text, {}, {}


def _table(prompts: Prompts, name: str, base: Path, named: frozenset[str]) -> Iterator[_Found | Skipped]:
    known: dict[tuple[str, ...], Parsed[Columns]] = {}
    used = set(_FIELD.findall(prompts.template or ""))
    for row in read_table(base / from_home(name)):
        where = f"{plain(Path(name).name)}, line {row.number}"
        if not isinstance(row, TableRow):
            yield Skipped(input=where, reason=row.reason, kind="usage")
            continue
        try:
            names = tuple(row.cells)
            read = known[names] = known.get(names) or read_columns(names, frozenset(used | named), plain(name, 200))
            columns = read.take(lambda _: None)  # told below, of all rows together
            fields = {column: _written(cell) for column, cell in row.cells.items()}
            text = _text(prompts.template, columns.prompt, fields)
            used.update(_FIELD.findall(text or ""))
            yield where, text, columns.values(row.cells), fields
        except (ValueError, UsageError) as error:
            yield Skipped(input=where, reason=str(error), kind="usage")
    yield from _told(list(known.values()), used, plain(Path(name).name))


def _told(read: list[Parsed[Columns]], used: set[str], name: str) -> Iterator[Skipped]:
    """Say which columns nothing used, and which were taken for a setting by a similar name."""
    unused = tuple(dict.fromkeys(column for each in read for column in each.unused if column not in used))
    guesses = tuple(dict.fromkeys(guess for each in read for guess in each.guesses))
    parts = [f"columns that nothing uses: {plain(enumerated(unused), 300)}"] if unused else []
    parts += [plain(guess, 200) for guess in guesses]
    if parts:
        yield Skipped(input=name, reason="; ".join(parts), kind="unused_columns")


def _text(template: str | None, column: str | None, fields: Mapping[str, str]) -> str | None:
    if template is None:
        return fields.get(column or "") or None
    for name in _FIELD.findall(template):
        if name not in fields:
            raise UsageError(
                f"the template uses {shown(name)}, which is not a column; the table has {plain(', '.join(fields))}"
            )
    return template


def _written(cell: Cell) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    return "; ".join(map(str, cell)) if isinstance(cell, list) else str(cell)
