"""mezzotint.json: a model folder's settings for Mezzotint, beside the diffusers files."""

import math
import re
from collections.abc import Mapping
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.shared_parts import is_shared_place
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.errors import ModelRefused

SETTINGS_FILE = "mezzotint.json"
MAX_SETTINGS = 64 * 2**10
_MOST_TOKENS = 4096
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def read_settings(folder: Path) -> Mapping[str, object]:
    """Read and validate the settings; empty if there are none."""
    path = folder / SETTINGS_FILE
    if not is_file(path):
        return {}
    settings = read_json_object(path, MAX_SETTINGS)
    name = settings.get("name")
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise _refused(path, "name", name, "up to 64 letters, digits, dots, dashes or underscores")
    for key in ("family", "variant", "description"):
        if not isinstance(settings.get(key, ""), str):
            raise _refused(path, key, settings[key], "text")
    if type(settings.get("listed", True)) is not bool:
        raise _refused(path, "listed", settings["listed"], "true or false")
    tokens = settings.get("max_tokens", 1)
    if type(tokens) is not int or not 1 <= tokens <= _MOST_TOKENS:
        raise _refused(path, "max_tokens", tokens, f"a whole number from 1 to {_MOST_TOKENS}")
    _check_shared(path, settings.get("shared", {}))
    _check_defaults(path, settings.get("defaults", {}))
    return settings


def _check_shared(path: Path, shared: object) -> None:
    if not isinstance(shared, dict):
        raise _refused(path, "shared", shared, "an object")
    for key, place in shared.items():
        if not is_shared_place(place):
            raise _refused(
                path, f"shared.{plain(key, 40)}", place, "a neighbouring folder and a component in it, such as dit/vae"
            )


def _check_defaults(path: Path, defaults: object) -> None:
    if not isinstance(defaults, dict):
        raise _refused(path, "defaults", defaults, "an object")
    for key, low, high in (("width", 8, 16384), ("height", 8, 16384), ("steps", 1, 1000)):
        value = defaults.get(key, low)
        if type(value) is not int or not low <= value <= high:
            raise _refused(path, f"defaults.{key}", value, f"a whole number from {low} to {high}")
    for key in ("sampler", "schedule"):
        if not isinstance(defaults.get(key, ""), str):
            raise _refused(path, f"defaults.{key}", defaults[key], "text")
    guidance = defaults.get("guidance_scale", 1.0)
    if type(guidance) not in (int, float) or not math.isfinite(guidance) or not 0 <= guidance <= 100:
        raise _refused(path, "defaults.guidance_scale", guidance, "a number from 0 to 100")


def _refused(path: Path, key: str, value: object, wanted: str) -> ModelRefused:
    return ModelRefused(f"{plain(path, 300)}: {key} is {plain(value, 60)}; it must be {wanted}")
