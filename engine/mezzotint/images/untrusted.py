"""Values from untrusted files: bounded, finite, printable, or None."""

import json
import math
import re
import unicodedata
from collections.abc import Mapping

MAX_TEXT = 256 << 10  # characters of untrusted text that are read
MAX_OTHER = 64  # entries of `other`; how many more there were is one more
_MAX_OTHER_KEY = 64
_MAX_OTHER_VALUE = 2000
_LARGEST_WHOLE = 1 << 64
_DIGITS = re.compile(r"-?[0-9]{1,20}")
_CUT = " ... (cut)"


class UnreadableError(ValueError):
    """A text of a known format that cannot be parsed; the message says why."""


def parse_object(text: str, limit: int = MAX_TEXT) -> dict[str, object]:
    """Parse a JSON object from an untrusted file; accepts NaN, which ComfyUI writes."""
    if len(text) > limit:
        raise UnreadableError(f"its JSON has {len(text)} characters, at most {limit} are allowed")
    try:
        value = json.loads(text)
    except RecursionError:
        raise UnreadableError("its JSON is nested too deeply") from None
    except ValueError as error:
        raise UnreadableError(f"its JSON is invalid ({str(error)[:100]})") from None
    if not isinstance(value, dict):
        raise UnreadableError("its JSON is not an object")
    return value


def text(value: object) -> str | None:
    """A cleaned string; None for anything else."""
    return cleaned(value) if isinstance(value, str) else None


def whole(value: object) -> int | None:
    """An integer, also from text or 20.0; None for anything else or beyond 64 bits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < _LARGEST_WHOLE else None
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return whole(int(value))  # not via float, which would round a long seed
    number = real(value)
    return whole(int(number)) if number is not None and number.is_integer() else None


def real(value: object) -> float | None:
    """A finite float, also from text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and len(value) > 64:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def mapping(value: object) -> dict[str, object]:
    """The value if it is a JSON object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def cleaned(value: str, limit: int = MAX_TEXT) -> str:
    """Plain text safe for terminals: no control characters but newline and tab, no lone surrogates."""
    kept = "".join(one for one in value[:limit] if one in "\n\t" or unicodedata.category(one) not in ("Cc", "Cs"))
    return kept if len(value) <= limit else kept + _CUT


def others(values: Mapping[str, object]) -> dict[str, str]:
    """Values without a field of their own, as short texts; at most 64."""
    filled = [(key, value) for key, value in values.items() if value not in (None, "", [], {})]
    found = {
        cleaned(key, _MAX_OTHER_KEY): cleaned(_described(value), _MAX_OTHER_VALUE) for key, value in filled[:MAX_OTHER]
    }
    return found | ({"further": f"{len(filled) - MAX_OTHER} settings"} if len(filled) > MAX_OTHER else {})


def _described(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "(nested too deeply to show)"
