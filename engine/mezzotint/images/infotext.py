"""A1111's infotext: prompt, negative prompt, and one line of settings."""

import json
import re
from dataclasses import dataclass

MAX_CHARACTERS = 256 << 10
MAX_SETTINGS = 200

_NEGATIVE = "Negative prompt:"
# Possessive (`++`), so that hostile input cannot cause backtracking.
_KEY = re.compile(r"\s*+(\w[\w \-/]{1,63}+):\s*+")
_QUOTED = re.compile(r'"(?:\\.|[^\\"])*+"(?=,|$)')
_NEEDS_QUOTES = re.compile(r'[,:\n\r]|^"|^\s|\s$|^$')
_FEWEST_SETTINGS = 3  # a last line with fewer belongs to the prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Infotext:
    """A parsed infotext; settings in order."""

    prompt: str
    negative_prompt: str
    settings: dict[str, str]


def write_infotext(info: Infotext) -> str:
    """The text as A1111 writes it, without what text chunks cannot hold (NUL, lone surrogates)."""
    lines = [info.prompt] if info.prompt else []
    if info.negative_prompt:
        lines.append(f"{_NEGATIVE} {info.negative_prompt}")
    lines.append(", ".join(f"{key}: {_quoted(value)}" for key, value in info.settings.items()))
    return storable("\n".join(lines))


def parse_infotext(text: str) -> Infotext | None:
    """Parse an infotext in time linear in its length; None if it has no settings line at its end."""
    head, _, last = text[:MAX_CHARACTERS].rstrip().rpartition("\n")
    settings = _settings(last)
    if len(settings) < _FEWEST_SETTINGS:
        return None
    prompt, negative_prompt = _prompts(head)
    return Infotext(prompt=prompt, negative_prompt=negative_prompt, settings=settings)


def storable(text: str) -> str:
    """The text without NUL, and with lone surrogates replaced."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if _NEEDS_QUOTES.search(value) else value


def _prompts(head: str) -> tuple[str, str]:
    """Split at the first line that starts the negative prompt."""
    lines = head.split("\n")
    for number, line in enumerate(lines):
        if line.lstrip().startswith(_NEGATIVE):
            first = line.lstrip().removeprefix(_NEGATIVE).removeprefix(" ")
            return "\n".join(lines[:number]), "\n".join([first, *lines[number + 1 :]])
    return head, ""


def _settings(line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while position < len(line) and len(found) < MAX_SETTINGS:
        key = _KEY.match(line, position)
        if key is None:
            position = _next_comma(line, position) + 1
            continue
        quoted = _QUOTED.match(line, key.end())
        end = quoted.end() if quoted else _next_comma(line, key.end())
        found[key[1].strip()] = _unquoted(line[key.end() : end])
        position = end + 1
    return found


def _next_comma(line: str, position: int) -> int:
    comma = line.find(",", position)
    return len(line) if comma < 0 else comma


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) < 2 or not (value.startswith('"') and value.endswith('"')):
        return value
    try:
        plain = json.loads(value)
    except ValueError:
        return value
    return plain if isinstance(plain, str) else value
