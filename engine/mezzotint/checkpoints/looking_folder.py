"""What the network of a folder is for, if it is one that looks at images: in transformers' layout, or in ONNX."""

from collections.abc import Mapping
from pathlib import Path

from mezzotint.checkpoints.allowed_classes import LOOKING
from mezzotint.checkpoints.folder import MAX_CONFIG
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.errors import MezzotintError

BACKGROUND = "background"  # the purpose of all networks in ONNX
ONNX_FILE, PREPROCESSOR_FILE = "onnx/model.onnx", "preprocessor_config.json"  # as hubs have them


def purpose_of(folder: Path) -> str:
    """What the network of a folder is for, as in `LOOKING`, or BACKGROUND; empty if it looks at no images."""
    is_onnx = is_file(folder / ONNX_FILE) and is_file(folder / PREPROCESSOR_FILE)
    return BACKGROUND if is_onnx else purpose_in(_config(folder))


def purpose_in(config: Mapping[str, object]) -> str:
    """The same, of a configuration."""
    named = class_in(config)
    return next((purpose for purpose, classes in LOOKING.items() if named in classes), "")


def class_in(config: Mapping[str, object]) -> str:
    """The class that a configuration of transformers names; empty if none."""
    named = config.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else ""


def labels_of(folder: Path) -> set[str]:
    """What a detector finds, such as "person"."""
    names = _config(folder).get("id2label")
    return set(map(str, names.values())) if isinstance(names, dict) else set()


def _config(folder: Path) -> Mapping[str, object]:
    """The folder's configuration; empty if there is none that can be read."""
    path = folder / "config.json"
    try:
        return read_json_object(path, MAX_CONFIG) if is_file(path) else {}
    except MezzotintError:
        return {}
