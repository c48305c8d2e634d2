"""Find the line of a setting in the text of a job file, for error messages."""

import re
from collections.abc import Sequence

from mezzotint.values.toml_text import SKIPPED


def line_in_toml(text: str, key_path: Sequence[str]) -> int | None:
    """Return the line, from 1, of a key such as `["settings", "steps"]`; that of its table if the key is not found."""
    plain = _without_values(text)
    table, name = key_path[0], key_path[-1]
    header = re.search(rf"^[ \t]*\[+[ \t]*{re.escape(table)}[ \t]*\]+", plain, re.MULTILINE)
    begin = header.end() if header else 0
    next_header = re.search(r"^[ \t]*\[", plain[begin:], re.MULTILINE) if header else None
    end = begin + next_header.start() if next_header else len(plain)
    quoted = rf"[\"']?{re.escape(name)}[\"']?"
    found = re.search(rf"^[ \t]*(?:{re.escape(table)}\.)?{quoted}[ \t]*=", plain[begin:end], re.MULTILINE)
    if found is not None:
        return _line(plain, begin + found.end())
    return _line(plain, header.end()) if header else None


def line_in_json(text: str, key_path: Sequence[str]) -> int | None:
    """Return the line of the last name in `key_path`, searching for each name after the one that contains it."""
    at = 0
    for name in key_path:
        found = re.compile(rf'"{re.escape(name)}"\s*:').search(text, at)
        if found is None:
            return None
        at = found.end()
    return _line(text, at)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _without_values(text: str) -> str:
    """Blank out strings and comments but keep line breaks; strings short enough to be names stay."""

    def emptied(found: re.Match[str]) -> str:
        whole = found[0]
        is_name = "\n" not in whole and whole[0] in "\"'" and re.fullmatch(r"[\"'][\w-]{1,40}[\"']", whole)
        return whole if is_name else re.sub(r"[^\n]", " ", whole)

    return SKIPPED.sub(emptied, text)
