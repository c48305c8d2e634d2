"""The state of an optimizer as tensors and numbers by name, from which it goes on bit for bit."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

_STATE, _GROUP = "optimizer.", "optimizer-group."
_WITHIN = "/"
_SIGNED = "signed"  # of a state in 4 bits


def optimizer_state(optimizer: torch.optim.Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What the optimizer has accumulated, by parameter and name; some keep numbers for all parameters as well."""
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, Any] = {}
    for place, state in optimizer.state_dict()["state"].items():
        for name, value in _entries(state):
            key = f"{_STATE}{place}{_WITHIN}{name}"
            if not isinstance(value, Tensor):
                numbers[key] = value
            elif _is_quantized(value):
                parts, (signed, *_) = value.__tensor_flatten__()  # type: ignore[attr-defined]
                tensors |= {f"{key}{_WITHIN}{part}": getattr(value, part) for part in parts}
                numbers[f"{key}{_WITHIN}{_SIGNED}"] = signed
            else:
                tensors[key] = value
    usual = getattr(optimizer, "optim", optimizer).defaults  # ZeroRedundancyOptimizer wraps one
    for place, group in enumerate(optimizer.param_groups):
        for name, value in group.items():
            if isinstance(value, int | float) and math.isfinite(value) and value != usual.get(name):
                numbers[f"{_GROUP}{place}{_WITHIN}{name}"] = value
    return tensors, numbers


def restore_optimizer(
    optimizer: torch.optim.Optimizer,
    tensors: Mapping[str, Tensor],
    numbers: Mapping[str, Any],
    place: Callable[[Tensor, Tensor], Tensor] = lambda value, _: value,
) -> None:
    """Restore what `optimizer_state` returned; `place(value, parameter)` puts a state of a parameter's shape."""
    states: dict[int, dict[str, Any]] = {}
    groups, parameters = _groups(optimizer)
    for key, value in (*tensors.items(), *numbers.items()):
        if key.startswith(_STATE):
            number, name, *part = key.removeprefix(_STATE).split(_WITHIN)
            state = states.setdefault(int(number), {})
            if part:
                state.setdefault(name, {})[part[0]] = value
            else:
                state[name] = value
        elif key.startswith(_GROUP):
            number, name = key.removeprefix(_GROUP).split(_WITHIN)
            groups[int(number)][name] = value
    for index, state in states.items():
        for name, value in state.items():
            if isinstance(value, dict):
                state[name] = _quantized(value, parameters[index])
            elif isinstance(value, Tensor) and value.shape == parameters[index].shape:
                state[name] = place(value, parameters[index])
    optimizer.load_state_dict({"state": states, "param_groups": groups})


def _groups(optimizer: torch.optim.Optimizer) -> tuple[list[dict[str, Any]], list[Tensor]]:
    """The groups as `load_state_dict` takes them, with numbers for parameters, and the parameters."""
    groups: list[dict[str, Any]] = []
    parameters: list[Tensor] = []
    for group in optimizer.param_groups:
        first = len(parameters)
        parameters += group["params"]
        groups.append({**group, "params": list(range(first, len(parameters)))})
    return groups, parameters


def _entries(state: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a parameter's state; bitsandbytes hides some of them in a dict."""
    for name, value in state.items():
        if isinstance(value, Mapping):
            yield from _entries(value)
        elif value is not None:
            yield name, value


def _is_quantized(value: Tensor) -> bool:
    return type(value).__name__ == "OptimState4bit"


def _quantized(parts: Mapping[str, Any], parameter: Tensor) -> Tensor:
    from torchao.optim.subclass_4bit import OptimState4bit

    signed = bool(parts[_SIGNED])
    codes, scale, codebook = (parts[name].to(parameter.device) for name in OptimState4bit.tensor_attrs)
    return OptimState4bit(codes, scale, codebook, signed, parameter.shape, parameter.dtype)  # type: ignore[no-any-return]
