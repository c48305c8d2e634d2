"""Tensors that every layer of a format needs, made once on each device: each copy from the host has it wait."""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils import _python_dispatch

_Key: TypeAlias = tuple[Callable[..., Tensor], tuple[Any, ...], torch.device, torch.dtype]

_made: dict[_Key, Tensor] = {}


def constant(
    make: Callable[..., Tensor], *arguments: object, device: torch.device | str, dtype: torch.dtype = torch.float32
) -> Tensor:
    """What `make(*arguments)` gives, on a device in a format; the same tensor each time, which nobody writes to."""
    place = torch.device(device)
    if torch.compiler.is_compiling():
        return make(*arguments).to(place, dtype)
    key: _Key = (make, arguments, place, dtype)
    found = _made.get(key)
    if found is None:
        # It outlives whoever asks first: tracing without memory, inference, a count of bytes.
        with _python_dispatch._disable_current_modes(), torch.inference_mode(False), torch.no_grad():
            found = _made[key] = make(*arguments).to(place, dtype)
    return found
