"""A1111's infotext: prompt, negative prompt, a line of settings, and what extensions write after it."""

import json
import re
from dataclasses import dataclass

MAX_CHARACTERS = 256 << 10
MAX_SETTINGS = 200
_MOST_LINES = 2000  # from the end, among which the settings are searched

_NEGATIVE = "Negative prompt:"
# Possessive (`++`), so that hostile input cannot cause backtracking.
_KEY = re.compile(r"\s*+(\w[\w \-/]{1,63}+):[^\S\n]*+")
_VALUE_ENDS = r"(?=[^\S\n]*+(?:[,\n]|\Z))"
_QUOTED = re.compile(rf'"(?:\\.|[^\\"])*+"{_VALUE_ENDS}', re.DOTALL)
_LIST = re.compile(rf"[\[{{](?:(?!, *+\w[\w \-/]{{1,63}}+:)[^\n])*?[\]}}]{_VALUE_ENDS}")  # of Python, which is no JSON
_VALUE_END = re.compile(_VALUE_ENDS)
_NEXT_LINE = r"\n(?=[^\S\n]*+\w[\w \-/]{1,63}+:)"
_ENDS_OF_LINES = re.compile(_NEXT_LINE)
_ENDS_OF_VALUES = re.compile(rf",|{_NEXT_LINE}")
_ENDS_OF_USUAL_VALUES = re.compile(r",|\n")
_NEEDS_QUOTES = re.compile(r'[,:\n\r]|^["\[{]|^\s|\s$|^$')
_FEWEST_SETTINGS = 3  # a line with fewer belongs to the prompt
_FEWEST_USUAL = 2  # of a further line; a line with fewer is one setting, such as a template with commas of its own
_FIRST = "Steps"
_IN_A_LINE = re.compile(rf"(?<=\s){_FIRST}: ?[0-9]+,")  # where a program has joined the lines
_USUAL = {
    *(_FIRST, "Sampler", "Schedule type", "CFG scale", "Distilled CFG Scale", "Seed", "Size", "Model", "Model hash"),
    *("VAE", "Denoising strength", "Clip skip", "Lora hashes", "Version"),
}
_LONGEST_JSON = 64 << 10  # characters
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Infotext:
    """A parsed infotext; settings in order."""

    prompt: str
    negative_prompt: str
    settings: dict[str, str]
    unread: tuple[str, ...] = ()  # what is written among the settings and is none


def write_infotext(info: Infotext) -> str:
    """The text as A1111 writes it, without what text chunks cannot hold (NUL, lone surrogates)."""
    lines = [info.prompt] if info.prompt else []
    if info.negative_prompt:
        lines.append(f"{_NEGATIVE} {info.negative_prompt}")
    lines.append(", ".join(f"{key}: {_quoted(value)}" for key, value in info.settings.items()))
    return storable("\n".join(lines))


def parse_infotext(text: str) -> Infotext | None:
    """Parse an infotext in time linear in its length; None if none of its lines holds settings."""
    if len(text) > 2 * MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS] + text[-MAX_CHARACTERS:]  # a long prompt is cut, not the settings after it
    text = text.rstrip()
    start = _start_of_settings(text)
    if start is None:
        return None
    head = text[: max(start - 1, 0)]
    if text[start - 1 : start] == " ":
        head = head.replace(f" {_NEGATIVE}", f"\n{_NEGATIVE}", 1)  # joined, too
    prompt, negative_prompt = _prompts(head)
    settings, unread = _settings(text, start)
    return Infotext(prompt=prompt, negative_prompt=negative_prompt, settings=settings, unread=unread)


def storable(text: str) -> str:
    """The text without NUL, and with lone surrogates replaced."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if _NEEDS_QUOTES.search(value) else value


def _start_of_settings(text: str) -> int | None:
    """The last line with three settings that starts with the steps; else with usual ones; else inside a line."""
    lines = [0, *(match.end() for match in re.finditer("\n", text))][-_MOST_LINES:]
    found = {start: keys for start in reversed(lines) if len(keys := _keys(text, start)) >= _FEWEST_SETTINGS}
    by_first = (start for start, keys in found.items() if keys[0] == _FIRST)
    by_usual = (start for start, keys in found.items() if len(_USUAL.intersection(keys)) >= _FEWEST_SETTINGS)
    in_a_line = [match.start() for match in _IN_A_LINE.finditer(text)][-_MOST_LINES:]
    inside = (start for start in reversed(in_a_line) if len(_keys(text, start)) >= _FEWEST_SETTINGS)
    at_the_end = (start for start in lines[-1:] if start in found)
    return next((start for each in (by_first, by_usual, inside, at_the_end) for start in each), None)


def _keys(text: str, start: int) -> list[str]:
    """The keys of the settings in a line that starts with one."""
    return list(_settings(text, start, later_lines=False)[0]) if _KEY.match(text, start) else []


def _prompts(head: str) -> tuple[str, str]:
    """Split at the first line that starts the negative prompt."""
    lines = head.split("\n")
    for number, line in enumerate(lines):
        if line.lstrip().startswith(_NEGATIVE):
            first = line.lstrip().removeprefix(_NEGATIVE).removeprefix(" ")
            return "\n".join(lines[:number]), "\n".join([first, *lines[number + 1 :]])
    return head, ""


def _settings(text: str, position: int, *, later_lines: bool = True) -> tuple[dict[str, str], tuple[str, ...]]:
    """The settings from a position on, of that line or of all lines, and what is none."""
    found: dict[str, str] = {}
    unread: list[str] = []
    first = position
    while position < len(text) and len(found) < MAX_SETTINGS:
        key = _KEY.match(text, position)
        starts_line = position > first and text[position - 1] == "\n"
        if starts_line and not later_lines:
            break
        if key is None:
            end = _next(_ENDS_OF_LINES if starts_line else _ENDS_OF_VALUES, text, position)
            unread.append(text[position:end].strip())
        else:
            is_template = starts_line and len(_USUAL.intersection(_keys(text, position))) < _FEWEST_USUAL
            end = _next(_ENDS_OF_LINES, text, key.end()) if is_template else _end_of_value(text, key.end(), key[1])
            if found.setdefault(key[1].strip(), value := _unquoted(text[key.end() : end])) != value:
                unread.append(text[position:end].strip())
        position = end + 1
    return found, tuple(filter(None, [*unread, text[position:].strip()]))


def _end_of_value(text: str, start: int, key: str) -> int:
    """Where a value ends: after its brackets or quotes, else before a comma or a line that starts with a key."""
    if end := _end_of_json(text, start):
        return end
    if bracketed := _QUOTED.match(text, start) or _LIST.match(text, start):
        return bracketed.end()
    return _next(_ENDS_OF_USUAL_VALUES if key.strip() in _USUAL else _ENDS_OF_VALUES, text, start)


def _end_of_json(text: str, start: int) -> int | None:
    if not text.startswith(("{", "["), start):
        return None
    try:
        end = start + _DECODER.raw_decode(text[start : start + _LONGEST_JSON])[1]
    except (ValueError, RecursionError):
        return None
    return end if _VALUE_END.match(text, end) else None


def _next(end: re.Pattern[str], text: str, position: int) -> int:
    found = end.search(text, position)
    return found.start() if found else len(text)


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) < 2 or not (value.startswith('"') and value.endswith('"')):
        return value
    try:
        plain = _DECODER.decode(value)
    except ValueError:
        return value
    return plain if isinstance(plain, str) else value
