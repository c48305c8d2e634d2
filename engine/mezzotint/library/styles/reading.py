"""A style as plain data, as its file holds it."""

from collections.abc import Mapping
from dataclasses import replace

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError
from mezzotint.library_protocol import MOST_STYLE_NAME, MOST_STYLE_TEXT, Style
from mezzotint.options import read_settings, to_settings
from mezzotint.parsed import Parsed
from mezzotint.values.basic import is_text, shown

SCHEMA_VERSION = 1
_KEYS = ("version", "name", "prompt", "negative", "settings")
_NOT_IN_STYLES = ("style", "negative")  # styles name no others, and texts have their own fields


def read_style(data: object, where: str) -> Parsed[Style]:
    """The style in a file's data; unused are keys that a style does not have.

    Raises UsageError that says what is wrong in it.
    """
    if not isinstance(data, dict):
        raise UsageError(f"{plain(where, 300)}: a style must be an object with a name")
    version = data.get("version", SCHEMA_VERSION)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise UsageError(f"{plain(where, 300)}: {shown(version)} is not a version")
    if version > SCHEMA_VERSION:
        raise UsageError(f"{plain(where, 300)} is from a newer Mezzotint: update Mezzotint to use it")
    settings = data.get("settings", {})
    if not isinstance(settings, dict):
        raise UsageError(f"{plain(where, 300)}: settings must be an object")
    texts = {name: data.get(name, "") for name in ("name", "prompt", "negative")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise UsageError(f"{plain(where, 300)}: {name} is {shown(text)}, not a text")
    unused = tuple(plain(name) for name in data if name not in _KEYS)
    return Parsed(checked(Style(**texts, settings=settings), where), source=plain(where, 300), unused=unused)


def data_of(style: Style) -> dict[str, object]:
    """What is written: only what is set."""
    data = {"name": style.name, "prompt": style.prompt, "negative": style.negative, "settings": style.settings}
    return {"version": SCHEMA_VERSION} | {name: value for name, value in data.items() if value}


def checked(style: Style, where: str = "") -> Style:
    """The style with its name trimmed; raises UsageError for a name, text or setting that cannot be used."""
    prefix = f"{plain(where, 300)}: " if where else ""
    name = " ".join(style.name.split())
    if not name or len(name) > MOST_STYLE_NAME or not is_text(name) or not name.isprintable():
        raise UsageError(f"{prefix}{shown(style.name)} is not a name of 1 to {MOST_STYLE_NAME} characters")
    for what, text in (("prompt", style.prompt), ("negative", style.negative)):
        if len(text) > MOST_STYLE_TEXT or not is_text(text):
            raise UsageError(
                f"{prefix}the {what} has {len(text)} characters, or invalid ones; at most {MOST_STYLE_TEXT} are kept"
            )
    return replace(style, name=name, settings=_settings(style.settings, prefix))


def _settings(settings: Mapping[str, object], prefix: str) -> dict[str, object]:
    def problem(name: str, message: str) -> UsageError:
        return UsageError(f"{prefix}{plain(name)}: {message or 'there is no such option in this version'}")

    for name in _NOT_IN_STYLES:
        if name in settings:
            raise problem(name, "a style cannot set this")
    return to_settings(read_settings(settings, problem))
