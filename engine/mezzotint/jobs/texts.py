"""Texts that the database would not take: names of files may hold bytes that are no characters."""

import json

_ESCAPED = 'json:"'


def kept(text: str) -> str:
    """The text in a form that every database keeps; `given` has it back."""
    return f"json:{json.dumps(text)}" if text.startswith(_ESCAPED) or not _is_plain(text) else text


def given(text: str) -> str:
    """The text that was kept."""
    return str(json.loads(text.removeprefix("json:"))) if text.startswith(_ESCAPED) else text


def readable(text: str) -> str:
    """The text for a person; what is no character is written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_plain(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
