"""Model folders in diffusers layout, treated as untrusted.

diffusers imports the libraries and classes that model_index.json names. Mezzotint opens a folder only if every name in
it is on its own allowlist, and reads only safetensors weights.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint.checkpoints.allowed_classes import CODE_KEYS, PIPELINES, Allowed
from mezzotint.checkpoints.folder_settings import read_settings
from mezzotint.checkpoints.folder_walk import check_folder
from mezzotint.checkpoints.folder_weights import weight_files
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.checkpoints.shared_parts import part_folder
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ModelRefused, StorageError

INDEX_FILE = "model_index.json"
MAX_CONFIG = 256 * 2**10


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A component of the pipeline: a network with its weight files, or a tokenizer or scheduler without any."""

    name: str
    library: str
    class_name: str
    config: Mapping[str, object]
    folder: Path
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCheckpoint:
    """A validated model folder; nothing in it is loaded."""

    path: Path
    pipeline_class: str
    components: Mapping[str, Component]
    bytes: int  # of the weights
    settings: Mapping[str, object]  # of mezzotint.json
    options: Mapping[str, object]  # of the pipeline, such as force_zeros_for_empty_prompt
    parts: Mapping[str, Path] = field(default_factory=dict)  # by component: files that replace its weights
    chosen: frozenset[str] = frozenset()  # components whose file the user chose


def open_folder(path: Path) -> FolderCheckpoint:
    """Validate a model folder, from its index to the header of each weight file; raises ModelRefused if invalid."""
    if not is_folder(path):
        raise StorageError(f"{plain(path, 300)} is not a folder that can be read")
    root = path.resolve()
    if not is_file(root / INDEX_FILE):
        raise ModelRefused(f"{plain(path, 300)}: no {INDEX_FILE}; this is not a model folder in diffusers' layout")
    check_folder(root)
    index = read_json_object(root / INDEX_FILE, MAX_CONFIG)
    _refuse_code_keys(root / INDEX_FILE, index)
    pipeline = index.get("_class_name")
    if not isinstance(pipeline, str) or pipeline not in PIPELINES:
        known = ", ".join(sorted(PIPELINES))
        raise ModelRefused(f"{plain(path, 300)}: the pipeline {plain(pipeline)} is not one of {known}")
    settings = read_settings(root)
    components = dict(_components(root, index, PIPELINES[pipeline], settings))
    sizes = [weight_header(file).bytes for component in components.values() for file in component.files]
    return FolderCheckpoint(
        path=root,
        pipeline_class=pipeline,
        components=components,
        bytes=sum(sizes),
        settings=settings,
        options={key: value for key, value in index.items() if _is_option(value)},
    )


def published_name(path: Path) -> str:
    """Name of the model folder; for a Hugging Face snapshot, that of its repository."""
    for part in reversed(path.parts):
        if part.startswith("models--"):
            return part.rsplit("--", 1)[-1]
    return path.name


def _components(
    root: Path, index: Mapping[str, object], allowed: Mapping[str, Allowed], settings: Mapping[str, object]
) -> Iterable[tuple[str, Component]]:
    where = root / INDEX_FILE
    named = {key: value for key, value in index.items() if not key.startswith("_") and isinstance(value, list | dict)}
    parts = {key: _pair(where, key, each) for key, each in named.items() if key in allowed or not _is_option(each)}
    present = {key: part for key, part in parts.items() if part is not None and _is_used(key, allowed)}
    for key, (library, class_name) in present.items():
        if key not in allowed:
            raise ModelRefused(f"{plain(where, 300)}: the component {plain(key)} ({plain(class_name)}) is not known")
        if (library, class_name) not in allowed[key].classes:
            what = plain(f"{library}.{class_name}")
            raise ModelRefused(f"{plain(where, 300)}: {key} names {what}, which is not allowed there")
    missing = [key for key, rule in allowed.items() if rule.required and key not in present]
    if missing:
        raise ModelRefused(f"{plain(where, 300)}: no {', '.join(missing)}, which this pipeline needs")
    for key, (library, class_name) in present.items():
        yield key, _component(part_folder(root, key, settings), key, library, class_name, allowed[key])


def _is_option(value: object) -> bool:
    """Whether a value of the index is a pipeline option: a scalar or a list of integers."""
    if isinstance(value, list):
        return bool(value) and all(type(each) is int for each in value)
    return isinstance(value, bool | int | float | str)


def _is_used(key: str, allowed: Mapping[str, Allowed]) -> bool:
    return key not in allowed or allowed[key].used


def _pair(where: Path, key: str, value: object) -> tuple[str, str] | None:
    """Library and class of a component; None for a component that the model omits."""
    if value == [None, None]:
        return None
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str):
        return value[0], value[1]
    raise ModelRefused(f"{plain(where, 300)}: {plain(key)} is {plain(value)}, not a library and a class")


def _component(place: tuple[Path, Path], name: str, library: str, class_name: str, allowed: Allowed) -> Component:
    folder, root = place
    configs = {
        path.name: read_json_object(path, MAX_CONFIG)
        for path in sorted(folder.iterdir())
        if "config" in path.name and path.suffix == ".json"
    }
    for file_name, value in configs.items():
        _refuse_code_keys(folder / file_name, value)
    config_name = _config_name(name)
    if config_name not in configs:
        raise ModelRefused(f"{plain(folder, 300)}: incomplete: {config_name} is missing")
    config = configs[config_name]
    stated = config.get("_class_name", class_name)
    if not isinstance(stated, str) or (library, stated) not in allowed.classes:
        raise ModelRefused(f"{plain(folder / config_name, 300)}: the class {plain(stated)} is not allowed there")
    has_weights = config_name == "config.json"
    files = weight_files(root, folder, library) if has_weights else ()
    return Component(name=name, library=library, class_name=class_name, config=config, folder=folder, files=files)


def _config_name(component: str) -> str:
    if component == "scheduler":
        return "scheduler_config.json"
    return "tokenizer_config.json" if component.startswith("tokenizer") else "config.json"


def _refuse_code_keys(where: Path, value: object) -> None:
    """Raise ModelRefused if a config has one of CODE_KEYS at any level; the parser bounds its depth."""
    if isinstance(value, dict):
        for key in value:
            if key in CODE_KEYS:
                raise ModelRefused(f"{plain(where, 300)}: '{key}' requires code that comes with the model")
        for item in value.values():
            _refuse_code_keys(where, item)
    elif isinstance(value, list):
        for item in value:
            _refuse_code_keys(where, item)
