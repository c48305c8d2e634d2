"""Encode texts that the database would refuse: file names may hold bytes that are not valid characters."""

import json

_ESCAPED = 'json:"'


def kept(text: str) -> str:
    """Encode a text so that any database can store it; `given` decodes it."""
    return f"json:{json.dumps(text)}" if text.startswith(_ESCAPED) or not _is_plain(text) else text


def given(text: str) -> str:
    """Decode a text that `kept` has encoded."""
    return str(json.loads(text.removeprefix("json:"))) if text.startswith(_ESCAPED) else text


def readable(text: str) -> str:
    """Return the text for display, with invalid characters escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_plain(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
