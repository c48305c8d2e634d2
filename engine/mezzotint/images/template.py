"""The template syntax of output names: plain text with [tokens], and values sanitized for any file system."""

import re
import unicodedata

from mezzotint.errors import UsageError
from mezzotint.trouble import shown

TOKENS = ("seed", "prompt", "model", "width", "height", "steps", "sampler", "index", "count", "date", "time")
DEFAULT_NAME = "[date]-[time]-[seed]"

MAX_VALUE_BYTES = 150
MAX_COMPONENT_BYTES = 240  # of 255, leaving room for `-12` and a suffix
_SLUG_CHARACTERS = 60

_TOKEN = re.compile(r"\[\[|\[([^\[\]]*)\]")
_UNSAFE = re.compile(r'[/\\:*?"<>|]')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?=\.|$)")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, bidi overrides, surrogates, unassigned


def tokens_in(text: str) -> tuple[str, ...]:
    """The token names in a template, in order; raises UsageError, listing the known ones, for an unknown one."""
    names = tuple(match[1] for match in _TOKEN.finditer(text) if match[1] is not None)
    for name in names:
        if name not in TOKENS:
            known = " ".join(f"[{token}]" for token in TOKENS)
            raise UsageError(
                f"unknown token [{shown(name)}] in an output name; known tokens are {known}; write [[ for a plain ["
            )
    return names


def render(component: str, values: dict[str, str]) -> str:
    """Fill in the tokens of one path component; the result never contains a separator."""
    if not tokens_in(component):
        return component.replace("[[", "[")
    text = _TOKEN.sub(lambda match: "[" if match[1] is None else safe_value(values[match[1]]), component)
    return safe_component(text)


def safe_value(value: str) -> str:
    """A token's value without characters unsafe for file systems or shell listings, at most 150 bytes."""
    plain = "".join(one for one in unicodedata.normalize("NFC", value) if unicodedata.category(one) not in _INVISIBLE)
    return cut_bytes(_UNSAFE.sub("-", plain).strip(" ."), MAX_VALUE_BYTES).rstrip(" .")


def safe_component(text: str) -> str:
    """A file or folder name that is valid on Windows, macOS and Linux."""
    plain = "".join(one for one in text if unicodedata.category(one) not in _INVISIBLE)
    plain = cut_bytes(_UNSAFE.sub("-", plain), MAX_COMPONENT_BYTES).rstrip(" .").lstrip(" ")
    if not plain.strip("."):
        return "_"
    return f"_{plain}" if _RESERVED.match(plain) else plain


def slug(prompt: str) -> str:
    """A prompt as a short name: letters and digits of any script, everything else as hyphens."""
    kept = (
        one if unicodedata.category(one)[0] in "LMN" else " " for one in unicodedata.normalize("NFC", prompt[:1000])
    )
    return "-".join("".join(kept).split())[:_SLUG_CHARACTERS].strip("-") or "image"


def cut_bytes(text: str, limit: int) -> str:
    """The longest prefix of the text that fits in `limit` bytes of UTF-8, never splitting a character."""
    return text.encode("utf-8", "ignore")[:limit].decode("utf-8", "ignore")
