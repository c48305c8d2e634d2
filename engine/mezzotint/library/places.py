"""The folders searched for models and the models hidden from lists, stored in config.toml."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from mezzotint.atomic import atomic_write
from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.place import at_home
from mezzotint.catalog.places import MAX_CONFIG, config_file, expand, read_settings, standard_places
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder, read_limited, without_mark
from mezzotint.errors import ModelRefused, StorageError, UnknownModel, UsageError
from mezzotint.library_protocol import ModelPlace
from mezzotint.protocol import ModelRef
from mezzotint.trouble import storage_error

Change = Callable[[list[str]], list[str]]


def list_places(folders: Sequence[Path] = ()) -> tuple[ModelPlace, ...]:
    """Return every searched place, in the order in which models are listed; `folders` are those given at start."""
    places = standard_places(folders)
    own = {_real(path) for path in read_settings().folders}
    named = [_named(path, own=_real(path) in own) for path in dict.fromkeys(places.named)]
    usual = ((places.bundled, "bundled"), (places.models, "models"), (places.huggingface, "huggingface"))
    bundled, models, hub = (_usual(path, source) for path, source in usual if path is not None)
    return (bundled, models, *named, hub)


def add_place(path: str) -> None:
    """Add a searched folder, another program's model tree or its extra_model_paths.yaml. Raises UsageError."""
    place = at_home(Path(path)).absolute()
    if not path or not (is_folder(place) or is_file(place)):
        raise UsageError(f"There is no folder '{plain(path, 300)}'; name one that exists")
    if is_file(place) and not expand(place)[0]:
        notices = expand(place)[1]
        raise UsageError(notices[0] if notices else f"{plain(place, 300)} names no model folders")
    known = {_real(folder) for folder in read_settings().folders}
    if _real(place) not in known:
        _change("folders", lambda listed: [*listed, str(place)])


def remove_place(path: str) -> None:
    """Stop searching an added folder, leaving its files alone. Raises UsageError if it was not added."""
    unwanted = _real(at_home(Path(path)).absolute())
    beside = config_file().parent
    if unwanted not in {_real(folder) for folder in read_settings().folders}:
        raise UsageError(f"'{plain(path, 300)}' is not an added folder; only those can be removed")
    _change("folders", lambda listed: [one for one in listed if _real(beside / at_home(Path(one))) != unwanted])


def hide_model(catalog: Catalog, identity: str) -> None:
    """Hide a model from lists; its files stay, and it can still be named."""
    listed, path = catalog.where(ModelRef(id=identity))
    bundled = any(model.source == "bundled" for model in catalog.models(hidden=True) if model.id == listed)
    kept = listed if bundled else str(path)  # only ids of bundled models are stable when files change
    if listed in read_settings().shown:
        _change("shown", lambda shown: [one for one in shown if one != listed])
    if not catalog.hides(listed):
        _change("hidden", lambda hidden: [*hidden, kept])


def unhide_model(catalog: Catalog, identity: str) -> None:
    """Unhide a model."""
    listed, path = catalog.where(ModelRef(id=identity))
    _change("hidden", lambda hidden: [one for one in hidden if one not in (listed, str(path), identity)])
    if catalog.hides(listed):  # by its own settings
        _change("shown", lambda shown: [*shown, listed])


def is_hidden(catalog: Catalog, identity: str) -> bool:
    """Whether `identity` names a hidden model."""
    try:
        listed, _ = catalog.where(ModelRef(id=identity))
    except UnknownModel:
        return False
    return catalog.hides(listed)


def is_own_place(path: str) -> bool:
    """Whether `path` is one of the added folders."""
    return _real(at_home(Path(path)).absolute()) in {_real(folder) for folder in read_settings().folders}


def store_parts(model: str, files: Sequence[str]) -> None:
    """Store the component files chosen for the model at a path; none removes the entry."""
    path, document = _settings()
    parts = document.setdefault("models", tomlkit.table()).setdefault("parts", tomlkit.table())
    parts.pop(model, None)
    if files:
        parts[model] = _array(list(files))
    _write(path, document)


def _usual(path: Path, source: str) -> ModelPlace:
    problem = None if is_folder(path) else "does not exist yet" if source == "models" else "does not exist"
    return ModelPlace(path=str(path), source=source, own=False, problem=problem)


def _named(path: Path, *, own: bool) -> ModelPlace:
    places, notices = expand(path)
    problem = "; ".join(notices) or (None if places else "no model folders in it")
    return ModelPlace(path=str(path), source=places[0].source if places else "folder", own=own, problem=problem)


def _real(path: Path) -> str:
    return os.path.normcase(os.path.realpath(path))


def _change(key: str, change: Change) -> None:
    """Rewrite one list in config.toml; everything else, including comments, stays as the user wrote it."""
    path, document = _settings()
    models = document.setdefault("models", tomlkit.table())
    listed = models.get(key)
    changed = change([str(one) for one in listed or ()])
    if listed is None:
        models[key] = _array(changed)
    else:
        _update_array(listed, changed)
    _write(path, document)


def _settings() -> tuple[Path, Any]:
    path = Path(os.path.realpath(config_file()))  # the settings file may be a symlink, e.g. into a dotfiles repository
    return path, _document(path)


def _write(path: Path, document: Any) -> None:  # noqa: ANN401
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create", path.parent, error) from None
    atomic_write(path, tomlkit.dumps(document).encode("utf-8"), overwrite=True)


def _document(path: Path) -> Any:  # noqa: ANN401  tomlkit's containers have no useful types
    """Parse the settings file. Raises UsageError if it cannot be parsed, so that it is not overwritten."""
    read_settings()
    try:
        return tomlkit.parse(without_mark(read_limited(path, MAX_CONFIG))) if is_file(path) else tomlkit.document()
    except (TOMLKitError, ModelRefused, StorageError, ValueError, RecursionError) as error:
        raise UsageError(f"The settings cannot be read ({plain(path, 300)}): {plain(error)}") from None


def _array(items: list[str]) -> Any:  # noqa: ANN401
    array = tomlkit.array()
    array.extend(items)
    return array.multiline(multiline=True)


def _update_array(array: Any, wanted: list[str]) -> None:  # noqa: ANN401
    """Update the array in place, so that comments beside kept items survive."""
    for index in reversed([index for index, one in enumerate(array) if str(one) not in wanted]):
        del array[index]
    array.extend(wanted[len(array) :])
