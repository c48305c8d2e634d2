"""Read upscalers from files: the compact kind as our own network, others as spandrel's."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from mezzotint.checkpoints.foreign_kind import is_pickle_name
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused
from mezzotint.protocol import IsCancelled
from mezzotint.upscaling.compact import compact_for
from mezzotint.upscaling.other_kinds import other_kind
from mezzotint.upscaling.pickled import MAX_FILE, pickled_state
from mezzotint.upscaling.upscaler import Upscaler

_LARGEST_SCALE = 16
_PREFIXES = ("params_ema.", "params.", "module.")  # around all names of some files


def open_upscaler(path: Path, cancelled: IsCancelled = lambda: False) -> Upscaler:
    """Read an upscaler into RAM; raises ModelRefused if the file is none, or too large."""
    found = _built(path, _tensors(path, cancelled))
    if not 1 <= found.scale <= _LARGEST_SCALE:
        raise ModelRefused(f"{plain(path, 300)}: it enlarges {found.scale} times; 1 to {_LARGEST_SCALE} can be run")
    found.network.eval().requires_grad_(False)
    return found


def _tensors(path: Path, cancelled: IsCancelled) -> Mapping[str, Tensor]:
    tensors = pickled_state(path) if is_pickle_name(path) else _stored(path, cancelled)
    for prefix in _PREFIXES:
        if tensors and all(name.startswith(prefix) for name in tensors):
            return {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    return tensors


def _stored(path: Path, cancelled: IsCancelled) -> Mapping[str, Tensor]:
    bytes_ = read_header(path).bytes
    if bytes_ > MAX_FILE:
        raise ModelRefused(f"{plain(path, 300)}: {size(bytes_)} are too much for an upscaler; at most {size(MAX_FILE)}")
    return dict(read_tensors([path], on_bytes=lambda _: None, cancelled=cancelled))


def _built(path: Path, tensors: Mapping[str, Tensor]) -> Upscaler:
    network = compact_for({name: tensor.shape for name, tensor in tensors.items()})
    if network is None:
        return other_kind(path, tensors)
    network.load_state_dict(tensors, assign=True)
    return Upscaler(network=network, scale=network.scale, architecture="Compact")
