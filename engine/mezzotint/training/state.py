"""The state of a training on disk: one safetensors file, complete or absent, from which it goes on bit for bit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from mezzotint.atomic import atomic_write
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.read import read_tensors
from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.checkpoints.write import serialized
from mezzotint.errors import ModelRefused

_ENTRY = "training"


def save_state(path: Path, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any]) -> None:
    """Write tensors and JSON values; raises StorageError, and leaves the earlier state then."""
    metadata = {_ENTRY: json.dumps(numbers, sort_keys=True)}
    atomic_write(path, serialized(tensors, metadata), overwrite=True)


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a state; raises ModelRefused if it is damaged, StorageError if it cannot be read."""
    header = read_header(path)
    if _ENTRY not in header.metadata:
        raise ModelRefused(f"{path}: this is not the state of a training")
    numbers = parse_json_object(header.metadata[_ENTRY].encode(), path)
    tensors = dict(read_tensors([path], on_bytes=lambda *_: None, cancelled=lambda: False))
    return tensors, numbers
