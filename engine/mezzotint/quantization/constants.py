"""Cache of constant tensors per device, because each copy from the host synchronizes."""

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
    """Return `make(*arguments)` on the device in the dtype; the tensor is cached and must not be modified."""
    place = torch.device(device)
    if torch.compiler.is_compiling():
        return make(*arguments).to(place, dtype)
    key: _Key = (make, arguments, place, dtype)
    found = _made.get(key)
    if found is None:
        # The tensor outlives its first caller's modes: fake tensors, inference mode, byte accounting.
        with _python_dispatch._disable_current_modes(), torch.inference_mode(False), torch.no_grad():
            found = _made[key] = make(*arguments).to(place, dtype)
    return found
