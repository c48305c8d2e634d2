"""Encode texts that the database would refuse: file names may hold bytes that are not valid characters."""

import json

_ESCAPED = 'json:"'


def encode_text(text: str) -> str:
    """Encode a text so that any database can store it; `decode_text` decodes it."""
    return f"json:{json.dumps(text)}" if text.startswith(_ESCAPED) or not _is_plain(text) else text


def decode_text(text: str) -> str:
    """Decode a text that `encode_text` has encoded."""
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
