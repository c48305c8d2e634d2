"""The state of a phase on disk: tensors as safetensors, numbers as JSON, written atomically."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from mezzotint.errors import StorageError


def save_tensors(path: Path, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any]) -> None:
    """Atomically write tensors and numbers (as JSON in the header) to one safetensors file. Raises StorageError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".part")
    contiguous = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    try:
        save_file(contiguous, fresh, metadata={"numbers": json.dumps(numbers)})
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


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Read the tensors and numbers of such a file; None if it does not exist."""
    if not path.exists():
        return None
    return load_file(path), load_numbers(path)


def load_numbers(path: Path) -> dict[str, Any]:
    """Read only the numbers of such a file. Raises StorageError if they are not a JSON object."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    numbers = json.loads(header["__metadata__"]["numbers"])
    if not isinstance(numbers, dict):
        raise StorageError(f"{path} is not a training state: delete it and start that phase again")
    return numbers
