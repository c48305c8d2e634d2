"""Upscalers in PyTorch's pickles (.pth), which are read without unpickling."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.header import BITS
from mezzotint.checkpoints.pickle_opcodes import PickledTensor
from mezzotint.checkpoints.pickled_tensors import read_pickled
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.errors import ModelRefused

if TYPE_CHECKING:
    from torch import Tensor

MAX_FILE = 2 * 2**30  # bytes: the largest that are published have 1.3 GB
_WRAPPERS = ("params_ema", "params-ema", "params", "state_dict", "model_state_dict", "model")


def pickled_state(path: Path) -> "Mapping[str, Tensor]":
    """The state dictionary in a pickle; raises ModelRefused for anything but named tensors, before memory is taken."""
    file = read_pickled(path, MAX_FILE)
    found = _unwrapped(file.content)
    tensors = {str(name): each for name, each in found.items() if isinstance(each, PickledTensor)}
    if not tensors or len(tensors) < len(found):
        raise ModelRefused(
            f"{plain(path, 300)}: it holds something other than named tensors, so it is not opened; get the "
            "safetensors version"
        )
    bytes_ = sum(math.prod(each.shape) * BITS[each.storage.dtype] // 8 for each in tensors.values())
    if bytes_ > MAX_FILE:
        raise ModelRefused(f"{plain(path, 300)}: {size(bytes_)} are too much for an upscaler; at most {size(MAX_FILE)}")
    return {name: file.tensor(each) for name, each in tensors.items()}


def _unwrapped(content: object) -> Mapping[object, object]:
    if not isinstance(content, dict):
        return {}
    inner = next((content[name] for name in _WRAPPERS if isinstance(content.get(name), dict)), content)
    return inner if isinstance(inner, dict) else {}
