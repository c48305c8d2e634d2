"""Tables of prompts: CSV, TSV and JSON lines, read a row at a time whatever their size."""

import codecs
import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import BinaryIO, cast

from mezzotint import codec
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import open_regular, reason
from mezzotint.errors import ModelRefused, ProtocolError, StorageError, UsageError
from mezzotint.values.basic import is_text, shown

MOST_COLUMNS = 200
_SEPARATOR = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)
_MOST_LINE = 1 << 20  # bytes
Cell = str | int | float | bool | list[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """The cells of a row, by column; an empty cell is an empty string."""

    number: int  # of the line, from 1
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRow:
    """An invalid row, and why."""

    number: int
    reason: str


def read_table(path: Path) -> Iterator[TableRow | BadRow]:
    """Return the rows of a .csv, .tsv or .jsonl file. Raises UsageError for an invalid suffix or header."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".jsonl"):
        raise UsageError(f"{plain(path, 200)} is not a table: its name must end in .csv, .tsv or .jsonl")
    lines = lines_of(path)
    return _json_rows(lines) if suffix == ".jsonl" else _csv_rows(lines, path, suffix)


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, with line ends; invalid UTF-8 becomes lone surrogates. Raises StorageError."""
    try:
        file = open_regular(path)
    except ModelRefused as error:
        raise StorageError(str(error)) from None
    with file:
        first = True
        if cast(BufferedReader, file).peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            yield from _utf16_lines(cast(BufferedReader, file), path)
            return
        while data := _next_line(file, path):
            text = data.decode("utf-8-sig" if first else "utf-8", "surrogateescape")
            first = False
            yield text.replace("\r\n", "\n")


def _utf16_lines(file: BufferedReader, path: Path) -> Iterator[str]:
    """Yield lines of UTF-16, as spreadsheets write their Unicode text; lone surrogates stay, and are reported."""
    text = TextIOWrapper(file, "utf-16", errors="surrogatepass", newline="\n")
    try:
        while line := text.readline(_MOST_LINE):
            rest = line
            while len(rest) == _MOST_LINE and not rest.endswith("\n"):
                rest = text.readline(_MOST_LINE)
            yield line.replace("\r\n", "\n")
    except UnicodeError:
        raise UsageError(f"{plain(path, 200)} begins like UTF-16 and is not: save it as UTF-8") from None
    except OSError as error:
        raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None


def _next_line(file: BinaryIO, path: Path) -> bytes:
    try:
        line = file.readline(_MOST_LINE)
        rest = line
        while len(rest) == _MOST_LINE and not rest.endswith(b"\n"):  # skip the rest of a longer line
            rest = file.readline(_MOST_LINE)
    except OSError as error:
        raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None
    return line


# ---- CSV


def _csv_rows(lines: Iterator[str], path: Path, suffix: str) -> Iterator[TableRow | BadRow]:
    head_line = next((line for line in lines if line.strip()), "")
    told = _SEPARATOR.fullmatch(head_line)
    if told is not None:  # as Excel writes it
        head_line = next((line for line in lines if line.strip()), "")
    delimiter = told[1] if told is not None else _delimiter(head_line, suffix)
    skipped = 0 if told is None else 1
    try:
        head = _head(next(csv.reader([head_line], delimiter=delimiter), []), path)
    except csv.Error as error:
        raise UsageError(f"the first line of {plain(path, 200)} is not valid CSV: {plain(error)}") from None
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        number = reader.line_num + 2 + skipped
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # affects only this row; the reader continues with the next line
            yield BadRow(number=number, reason=f"invalid CSV ({plain(error)})")
            continue
        if any(cell.strip() for cell in cells):
            yield _csv_row(number, head, cells)


def _delimiter(head_line: str, suffix: str) -> str:
    """The separator that the head has most often, outside of quotes."""
    bare = re.sub(r'"[^"]*+"', "", head_line)
    usual = "\t,;" if suffix == ".tsv" else ",;\t"
    return max(usual, key=bare.count)


def _head(cells: list[str], path: Path) -> list[str]:
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:  # spreadsheets write columns that were once used
        names.pop()
    if not names or len(names) > MOST_COLUMNS or not all(names) or not all(map(is_text, names)):
        raise UsageError(
            f"the first line of {plain(path, 200)} must have the names of its columns, 1 to {MOST_COLUMNS} of them"
        )
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise UsageError(f"{plain(path, 200)} has two columns named {shown(doubled)}: rename one")
    return names


def _csv_row(number: int, head: list[str], cells: list[str]) -> TableRow | BadRow:
    while len(cells) > len(head) and not cells[-1].strip():
        cells.pop()
    if len(cells) > len(head):
        return BadRow(number=number, reason=f"it has {len(cells)} cells, but the table has {len(head)} columns")
    filled = [*(cell.strip() for cell in cells), *[""] * (len(head) - len(cells))]
    return _row(number, dict(zip(head, filled, strict=True)))


# ---- JSON lines


def _json_rows(lines: Iterator[str]) -> Iterator[TableRow | BadRow]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = codec.parse_json(line)
        except ProtocolError as error:
            yield BadRow(number=number, reason=plain(error))
            continue
        if not isinstance(data, dict) or len(data) > MOST_COLUMNS:
            yield BadRow(number=number, reason=f"it is not a JSON object with at most {MOST_COLUMNS} columns")
        else:
            yield _json_row(number, data)


def _json_row(number: int, data: dict[str, object]) -> TableRow | BadRow:
    cells: dict[str, Cell] = {}
    for name, value in data.items():
        if isinstance(value, str | int | float | list):
            cells[name] = value
        elif value is not None:
            return BadRow(
                number=number, reason=f"{plain(name, 60)} contains {shown(value)}, which is not a text or number"
            )
    return _row(number, cells)


def _row(number: int, cells: Mapping[str, Cell]) -> TableRow | BadRow:
    for name, value in cells.items():
        if not is_text(name) or (isinstance(value, str) and not is_text(value)):
            return BadRow(number=number, reason=f"{plain(name, 60)} contains text that is not valid UTF-8")
    return TableRow(number=number, cells=cells)
