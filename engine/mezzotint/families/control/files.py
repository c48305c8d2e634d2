"""The files of a network that is given beside a model: a safetensors file, or a folder in its library's layout."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.allowed_classes import CODE_KEYS
from mezzotint.checkpoints.folder import INDEX_FILE, MAX_CONFIG
from mezzotint.checkpoints.folder_walk import check_folder
from mezzotint.checkpoints.folder_weights import weight_files
from mezzotint.checkpoints.foreign_kind import is_pickle_name, pickle_advice
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ModelRefused

LARGEST = 16 * 2**30  # bytes; the largest ControlNets have under 6 GB

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFiles:
    """A network before anything is loaded."""

    files: tuple[Path, ...]
    shapes: Shapes  # by the names in the files
    config: Mapping[str, object]  # of its folder; empty for a file
    bytes: int


def files_of(path: Path, library: str = "diffusers") -> tuple[Path, ...]:
    """The weight files; raises ModelRefused if there are none."""
    return weight_files(path.resolve(), path.resolve(), library) if is_folder(path) else (path,)


def read_network(
    path: Path, what: str, *, library: str = "diffusers", classes: Iterable[str] | None = None
) -> NetworkFiles:
    """Read the headers; raises ModelRefused. `what`: for errors; `classes`: which a folder may name; None: any."""
    config = _config(path.resolve(), path, what, classes) if is_folder(path) else {}
    files = files_of(path, library)
    shapes = dict(_shapes(path, files))
    total = sum(weight_header(file).bytes for file in files)
    if total > LARGEST:
        raise ModelRefused(f"{plain(path, 300)}: {size(total)}; {what} has at most {size(LARGEST)}")
    return NetworkFiles(files=files, shapes=shapes, config=config, bytes=total)


def _shapes(path: Path, files: Sequence[Path]) -> Iterable[tuple[str, tuple[int, ...]]]:
    for file in files:
        if is_pickle_name(file):
            raise ModelRefused(f"{plain(path, 300)}: {pickle_advice()}")
        yield from ((name, spec.shape) for name, spec in weight_header(file).tensors.items())


def _config(root: Path, path: Path, what: str, classes: Iterable[str] | None) -> Mapping[str, object]:
    if is_file(root / INDEX_FILE):
        raise ModelRefused(f"{plain(path, 300)}: a whole model; give the folder or file of {what}")
    if not is_file(root / "config.json"):
        raise ModelRefused(f"{plain(path, 300)}: no config.json; give the folder or safetensors file of {what}")
    check_folder(root)
    config = read_json_object(root / "config.json", MAX_CONFIG)
    code = next((key for key in config if key in CODE_KEYS), None)
    if code is not None:
        raise ModelRefused(f"{plain(path, 300)}: '{code}' requires code that comes with the model")
    known = None if classes is None else tuple(classes)
    stated = config.get("_class_name")
    if known is not None and stated not in known:
        raise ModelRefused(f"{plain(path, 300)}: the class {plain(stated)} is not one of {', '.join(known)}")
    return config
