"""The state of a training on disk: one safetensors file, complete or absent, from which it goes on bit for bit."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mezzotint.atomic import atomic_write
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.read import read_tensors
from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.errors import ModelRefused

_ENTRY = "training"
_STATE, _WITHIN = "optimizer.", "/"


def save_state(path: Path, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any]) -> None:
    """Write tensors and JSON values; raises StorageError, and leaves the earlier state then."""
    from safetensors.torch import save

    ready = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    atomic_write(path, save(ready, metadata={_ENTRY: json.dumps(numbers, sort_keys=True)}), overwrite=True)


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a state; raises ModelRefused if it is damaged, StorageError if it cannot be read."""
    header = read_header(path)
    if _ENTRY not in header.metadata:
        raise ModelRefused(f"{path}: this is not the state of a training")
    numbers = parse_json_object(header.metadata[_ENTRY].encode(), path)
    tensors = dict(read_tensors([path], on_bytes=lambda *_: None, cancelled=lambda: False))
    return tensors, numbers


def optimizer_state(optimizer: torch.optim.Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """An optimizer's state as tensors and JSON values, by parameter and name; bitsandbytes nests a dict in it."""
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, Any] = {}
    for key, value in _leaves(optimizer.state_dict()["state"], _STATE):
        if isinstance(value, Tensor):
            tensors[key] = value
        elif value is not None:
            numbers[key] = value
    return tensors, numbers


def restore_optimizer(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any]
) -> None:
    """Restore what `optimizer_state` returned."""
    states: dict[Any, Any] = {}
    for key, value in (*tensors.items(), *numbers.items()):
        if key.startswith(_STATE):
            place, *path = key.removeprefix(_STATE).split(_WITHIN)
            inner = states.setdefault(int(place), {})
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            inner[path[-1]] = value
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


def _leaves(values: Mapping[Any, Any], start: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{start}{name}{_WITHIN}")
        else:
            yield f"{start}{name}", value
