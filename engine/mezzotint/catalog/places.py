"""All places that are scanned for models, in listing order."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint import paths
from mezzotint.catalog.huggingface import is_cache
from mezzotint.catalog.other_programs import is_tree, places_of_file, places_of_tree, usual_homes
from mezzotint.catalog.place import Place, at_home
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder, read_limited, without_mark
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.values.toml_text import parse_toml

MODEL_PATH_VARIABLE = "MEZZOTINT_MODEL_PATH"
CONFIG_FILE = "config.toml"
MAX_CONFIG = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where to look for models."""

    bundled: Path | None = None
    models: Path | None = None
    named: tuple[Path, ...] = ()  # folders, trees of other programs, an extra_model_paths.yaml, single models
    huggingface: Path | None = None
    hidden: frozenset[str] = frozenset()  # ids and paths of models hidden from lists
    shown: frozenset[str] = frozenset()  # ids of bundled models that lists leave out unless asked
    parts: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)  # by a model's path: its chosen files


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Model settings in config.toml."""

    folders: tuple[Path, ...] = ()
    hidden: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)


def standard_places(folders: Sequence[Path] = ()) -> Places:
    """This user's places; `folders` come before those of the environment and the settings."""
    from_environment = [Path(part) for part in os.environ.get(MODEL_PATH_VARIABLE, "").split(os.pathsep) if part]
    settings = read_settings()
    named = [*folders, *from_environment, *settings.folders]
    return Places(
        bundled=paths.assets_folder() / "starter",
        models=paths.models_folder(),
        named=(*map(at_home, named), *usual_homes(at_home(Path("~")))),
        huggingface=paths.huggingface_cache(),
        hidden=settings.hidden,
        shown=settings.shown,
        parts=settings.parts,
    )


def all_places(places: Places) -> tuple[tuple[Place, ...], tuple[str, ...]]:
    """All existing places, and notices about invalid ones."""
    result: list[Place] = []
    notices: list[str] = []
    if places.bundled is not None and is_folder(places.bundled):
        result.append(Place(path=places.bundled, source="bundled"))
    if places.models is not None and is_folder(places.models):
        result.append(Place(path=places.models, source="models"))
    for path in places.named:
        more, problems = expand(path)
        result.extend(more)
        notices.extend(problems)
    if places.huggingface is not None and is_folder(places.huggingface):
        result.append(Place(path=places.huggingface, source="huggingface"))
    return tuple(result), tuple(notices)


def expand(path: Path) -> tuple[tuple[Place, ...], tuple[str, ...]]:
    """The places that a user-given path stands for."""
    if is_file(path):
        is_yaml = path.suffix.lower() in (".yaml", ".yml")
        return places_of_file(path) if is_yaml else ((Place(path=path, source="folder"),), ())
    if not is_folder(path):
        return (), (f"{plain(path, 300)} is listed as a folder of models, but does not exist",)
    if is_tree(path):
        return places_of_tree(path)
    return (Place(path=path, source="huggingface" if is_cache(path) else "folder"),), ()


def config_file() -> Path:
    """The user-edited settings file."""
    return paths.config_folder() / CONFIG_FILE


def read_settings() -> ModelSettings:
    """Read the model settings from config.toml; raises UsageError if they are invalid."""
    path = config_file()
    if not is_file(path):
        return ModelSettings()
    try:
        models = parse_toml(without_mark(read_limited(path, MAX_CONFIG)).decode("utf-8")).get("models", {})
    except (ModelRefused, StorageError, ValueError, RecursionError) as error:
        raise UsageError(f"The settings cannot be read ({plain(path, 300)}): {plain(error)}") from None
    folders = _list(path, models, "folders", '["/data/models"]')
    hidden = _list(path, models, "hidden", '["starter-xl"]')
    shown = _list(path, models, "shown", '["starter-pyramid"]')
    return ModelSettings(
        folders=tuple(path.parent / at_home(Path(folder)) for folder in folders),
        hidden=frozenset(hidden),
        shown=frozenset(shown),
        parts=_parts(path, models),
    )


def _list(path: Path, models: object, key: str, example: str) -> list[str]:
    value = models.get(key, []) if isinstance(models, dict) else None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UsageError(f"{plain(path, 300)}: {key} in [models] must be a list such as {example}")
    return value


def _parts(path: Path, models: dict[str, object]) -> dict[str, tuple[Path, ...]]:
    table = models.get("parts", {})
    if not isinstance(table, dict):
        raise UsageError(f"{plain(path, 300)}: [models.parts] must hold lists of files by the model's path")
    example = '["/data/vae/ae.safetensors"]'
    return {
        model: tuple(path.parent / at_home(Path(file)) for file in _list(path, table, model, example))
        for model in table
    }
