"""The state of a phase on disk: tensors as safetensors, numbers as JSON, written atomically."""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from mezzotint.errors import StorageError

LOG = logging.getLogger("mezzotint_starter")
_PREVIOUS = ".previous"


def save_tensors(
    path: Path, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any], *, keep_previous: bool = False
) -> None:
    """Atomically write tensors and numbers (as JSON in the header) to one safetensors file. Raises StorageError.

    With `keep_previous`, the file before stays beside it, for `load_tensors` to fall back to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".part")
    contiguous = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    try:
        save_file(contiguous, fresh, metadata={"numbers": json.dumps(numbers)})
        _sync(fresh)
        if keep_previous and path.exists():
            path.replace(_previous(path))
        fresh.replace(path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error}; free some space or choose another --work") from error


def write_json(path: Path, value: Any) -> None:  # noqa: ANN401  any JSON value
    """Atomically write a value as JSON. Raises StorageError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".part")
    try:
        fresh.write_text(json.dumps(value), encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error}; free some space or choose another --work") from error


def _sync(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _previous(path: Path) -> Path:
    return path.with_name(path.name + _PREVIOUS)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Read the tensors and numbers of such a file, or of the one before if it is damaged; None if there is neither."""
    for each in (path, _previous(path)):
        if each.exists():
            try:
                return load_file(each), load_numbers(each)
            except (SafetensorError, ValueError, KeyError, OSError) as error:
                LOG.warning("%s cannot be read (%s): put aside", each, error)
                each.replace(each.with_name(each.name + ".damaged"))  # else it would become the one before
    return None


def load_numbers(path: Path) -> dict[str, Any]:
    """Read only the numbers of such a file. Raises StorageError if they are not a JSON object."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    numbers = json.loads(header["__metadata__"]["numbers"])
    if not isinstance(numbers, dict):
        raise StorageError(f"{path} is not a training state: delete it and start that phase again")
    return numbers
