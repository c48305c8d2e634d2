"""The grammar of output names: plain text with [tokens], and values made safe for any disk."""

import re
import unicodedata

from mezzotint.errors import UsageError
from mezzotint.trouble import shown

TOKENS = ("seed", "prompt", "model", "width", "height", "steps", "sampler", "index", "count", "date", "time")
DEFAULT_NAME = "[date]-[time]-[seed]"

MAX_VALUE_BYTES = 150
MAX_COMPONENT_BYTES = 240  # of 255, so that `-12` and a suffix still fit
_SLUG_CHARACTERS = 60

_TOKEN = re.compile(r"\[\[|\[([^\[\]]*)\]")
_UNSAFE = re.compile(r'[/\\:*?"<>|]')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?=\.|$)")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, bidi overrides, surrogates, unassigned


def tokens_in(text: str) -> tuple[str, ...]:
    """The names of the tokens of a template, in order; an unknown one is a UsageError that lists those that exist."""
    names = tuple(match[1] for match in _TOKEN.finditer(text) if match[1] is not None)
    for name in names:
        if name not in TOKENS:
            known = " ".join(f"[{token}]" for token in TOKENS)
            raise UsageError(f"unknown token [{shown(name)}] in an output name; there are {known}; [[ is a plain [")
    return names


def render(component: str, values: dict[str, str]) -> str:
    """One component of a path with its tokens filled in; never a separator, never more than one component."""
    if not tokens_in(component):
        return component.replace("[[", "[")
    text = _TOKEN.sub(lambda match: "[" if match[1] is None else safe_value(values[match[1]]), component)
    return safe_component(text)


def safe_value(value: str) -> str:
    """A token's value without anything that a disk or a shell's listing could take amiss, at most 150 bytes."""
    plain = "".join(one for one in unicodedata.normalize("NFC", value) if unicodedata.category(one) not in _INVISIBLE)
    return cut_bytes(_UNSAFE.sub("-", plain).strip(" ."), MAX_VALUE_BYTES).rstrip(" .")


def safe_component(text: str) -> str:
    """A whole file or folder name that Windows, macOS and Linux all take."""
    plain = "".join(one for one in text if unicodedata.category(one) not in _INVISIBLE)
    plain = cut_bytes(_UNSAFE.sub("-", plain), MAX_COMPONENT_BYTES).rstrip(" .").lstrip(" ")
    if not plain.strip("."):
        return "_"
    return f"_{plain}" if _RESERVED.match(plain) else plain


def slug(prompt: str) -> str:
    """A prompt as a short name: letters and digits of any script, the rest as hyphens."""
    kept = (
        one if unicodedata.category(one)[0] in "LMN" else " " for one in unicodedata.normalize("NFC", prompt[:1000])
    )
    return "-".join("".join(kept).split())[:_SLUG_CHARACTERS].strip("-") or "image"


def cut_bytes(text: str, limit: int) -> str:
    """The longest start of the text that is at most so many bytes of UTF-8, never half a character."""
    return text.encode("utf-8", "ignore")[:limit].decode("utf-8", "ignore")
