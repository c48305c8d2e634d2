"""Import styles from other programs: A1111's styles.csv, Fooocus' sdxl_styles/*.json and SD.Next's. All, or nothing."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import read_limited
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.library.styles.reading import checked
from mezzotint.library.styles.store import MOST_STYLES, add_style, list_styles
from mezzotint.library_protocol import MOST_STYLE_NAME, Style, StylesImported
from mezzotint.parsed import Parsed

_NAMES = {  # of fields, whatever the case: A1111's, older versions of it, SD.Next's, Fooocus'
    "name": "name",
    "prompt": "prompt",
    "text": "prompt",
    "negative_prompt": "negative",
    "negative prompt": "negative",
    "negative": "negative",
}
_USUAL = "name, prompt and negative_prompt"
MOST_BYTES = 16 << 20  # of a file
_NOTHING: tuple[object, ...] = ("", None, [], {})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One style as written, and the line that it starts in, from 1."""

    line: int
    name: str
    prompt: str
    negative: str
    unused: tuple[str, ...] = ()  # fields that say something, and have no place in a style


def import_styles(path: Path) -> StylesImported:
    """Add the styles of a file. Raises UsageError naming the line that is wrong; nothing is added then."""
    notices: list[str] = []
    entries = parse_styles(path).take(notices.append)
    styles = [_checked(entry, path) for entry in entries if entry.prompt.strip() or entry.negative.strip()]
    known = {one.name.casefold(): one for one in list_styles().styles}
    if len(known) + len(styles) > MOST_STYLES:
        raise UsageError(f"{plain(path.name)} has {len(styles)} styles; at most {MOST_STYLES} are kept in all")
    added, renamed, unchanged = [], {}, 0
    for style in styles:
        name, is_there = _free_name(style, known)
        if is_there:
            unchanged += 1
            continue
        if name != style.name:
            renamed[style.name] = name
        known[name.casefold()] = add_style(Style(name=name, prompt=style.prompt, negative=style.negative))
        added.append(name)
    return StylesImported(
        added=tuple(added),
        renamed=renamed,
        unchanged=unchanged,
        empty=len(entries) - len(styles),
        notices=tuple(notices),
    )


def parse_styles(path: Path) -> Parsed[list[_Entry]]:
    """The entries of a file; unused are the fields that a style has no place for, with the number of entries."""
    entries = _entries(path)
    counts = Counter(field for entry in entries for field in entry.unused)
    unused = tuple(f"{plain(field)} (of {_of_styles(count)})" for field, count in counts.items())
    return Parsed(entries, source=plain(path.name), unused=unused)


def _of_styles(count: int) -> str:
    return "1 style" if count == 1 else f"{count} styles"


def _free_name(style: Style, known: dict[str, Style]) -> tuple[str, bool]:
    """A name that is not taken by other texts; and whether the same style is there already."""
    name, number = style.name, 1
    while (taken := known.get(name.casefold())) is not None:
        if (taken.prompt, taken.negative) == (style.prompt, style.negative):
            return name, True
        number += 1
        name = f"{style.name[: MOST_STYLE_NAME - 6]} ({number})"
    return name, False


def _checked(entry: _Entry, path: Path) -> Style:
    style = Style(name=entry.name, prompt=entry.prompt, negative=entry.negative)
    return checked(style, f"{path.name}, line {entry.line}")


def _entries(path: Path) -> list[_Entry]:
    data, name = _read(path), plain(path.name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}, line {line}: not valid UTF-8: save it as UTF-8") from None
    if path.suffix.lower() not in (".csv", ".json"):
        raise UsageError(f"{name} is neither a styles.csv of A1111 nor a .json file of Fooocus or SD.Next")
    entries = list(_of_json(text, name) if path.suffix.lower() == ".json" else _of_csv(text, name))
    if not entries:
        raise UsageError(f"{name} has no styles in it")
    return entries


def _read(path: Path) -> bytes:
    try:
        return read_limited(path, MOST_BYTES)
    except ModelRefused as error:
        raise UsageError(str(error)) from None


# ---- A1111


def _of_csv(text: str, file: str) -> Iterator[_Entry]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns: list[str] | None = None
    line = 1
    try:
        for row in rows:
            start, line = line, rows.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if columns is None:
                columns = _columns(row, file, start)
            else:
                yield _of_row(row, columns, file, start)
    except csv.Error as error:
        raise UsageError(f"{file}, line {line}: {plain(error)}; a quote may be missing") from None


def _columns(row: list[str], file: str, line: int) -> list[str]:
    columns = [cell.strip() for cell in row]
    known = [field for field in map(_field, columns) if field is not None]
    if not {"name", "prompt"} <= set(known):
        raise UsageError(f"{file}, line {line}: expected the columns name,prompt,negative_prompt")
    _check_single(known, file, line)
    return columns


def _field(name: str) -> str | None:
    return _NAMES.get(name.strip().lower())


def _check_single(known: Sequence[str], file: str, line: int) -> None:
    for field, count in Counter(known).items():
        if count > 1:
            raise UsageError(f"{file}, line {line}: the {field} is given {count} times, under several names: keep one")


def _of_row(row: list[str], columns: list[str], file: str, line: int) -> _Entry:
    if len(row) > len(columns):
        raise UsageError(
            f"{file}, line {line}: {len(row)} cells instead of {len(columns)}: put texts with commas in quotes"
        )
    cells = zip(columns, ("\n".join(cell.splitlines()) for cell in row), strict=False)
    return _entry([(name or "a column without a name", text) for name, text in cells], line)


def _entry(fields: Sequence[tuple[str, object]], line: int) -> _Entry:
    texts = {field: text for name, text in fields if (field := _field(name)) is not None}
    unused = tuple(name for name, value in fields if _field(name) is None and value not in _NOTHING)
    name, prompt, negative = (str(texts.get(field) or "") for field in ("name", "prompt", "negative"))
    return _Entry(line=line, name=name, prompt=prompt, negative=negative, unused=unused)


# ---- Fooocus and SD.Next


def _of_json(text: str, file: str) -> Iterator[_Entry]:
    """Read the list element by element, so that each has its line."""
    decoder = json.JSONDecoder()
    place = _after_space(text, 0)
    if text[place : place + 1] != "[":
        raise UsageError(f"{file}, line 1: expected a list of styles in brackets")
    place = _after_space(text, place + 1)
    while text[place : place + 1] != "]":
        line = text.count("\n", 0, place) + 1
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise UsageError(f"{file}, line {error.lineno}: not proper JSON: {plain(error.msg)}") from None
        except (ValueError, RecursionError):
            raise UsageError(f"{file}, line {line}: nested too deeply, or with a number that is too long") from None
        yield _of_value(value, file, line)
        place = _after_space(text, place)
        if text[place : place + 1] == ",":
            place = _after_space(text, place + 1)
        elif text[place : place + 1] != "]":
            line = text.count("\n", 0, place) + 1
            raise UsageError(f"{file}, line {line}: expected a comma, or the bracket at the end of the list")


def _of_value(value: object, file: str, line: int) -> _Entry:
    if not isinstance(value, dict):
        raise UsageError(f"{file}, line {line}: expected an object with {_USUAL}")
    known = [(field, text) for name, text in value.items() if (field := _field(name)) is not None]
    if not all(text is None or isinstance(text, str) for _, text in known):
        raise UsageError(f"{file}, line {line}: {_USUAL} must be texts")
    _check_single([field for field, text in known if text], file, line)
    return _entry([(name, text) for name, text in value.items() if text or _field(name) is None], line)


def _after_space(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n":
        place += 1
    return place
