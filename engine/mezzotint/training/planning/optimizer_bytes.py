"""Bytes of the optimizers' state, tensor by tensor."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from mezzotint.memory.accounting import rounded
from mezzotint.training_protocol import OptimizerName

Shape = Sequence[int]
_FLOAT = 4
_STEP = 4  # bytes of torch's count of steps
_QUANTIZED = 4096  # values from which bitsandbytes and torchao quantize a state
_BLOCK_8, _BLOCK_4 = 256, 128  # values with a common scale
_CODEBOOK_8 = 256 * _FLOAT  # two of them, shared by all parameters
_CODEBOOK_4 = 16 * _FLOAT  # two of them for each parameter


def numbers_bytes(shapes: Iterable[Shape]) -> int:
    """Bytes of float32 tensors as torch's allocator rounds them: the factors, their gradients, or their average."""
    return sum(rounded(_FLOAT * math.prod(shape)) for shape in shapes)


def optimizer_bytes(name: OptimizerName, shapes: Iterable[Shape]) -> int:
    """Bytes of an optimizer's state for float32 parameters of these shapes, as torch's allocator rounds them."""
    return sum(map(rounded, state_tensors(name, shapes)))


def state_tensors(name: OptimizerName, shapes: Iterable[Shape]) -> list[int]:
    """Bytes of each tensor of the state, once all parameters have been stepped.

    Prodigy's are the most that there can be: it keeps no copy of parameters that begin as zeros.
    """
    shapes = [tuple(shape) for shape in shapes]
    has_codes = "8bit" in name and any(math.prod(shape) >= _QUANTIZED for shape in shapes)
    return [_CODEBOOK_8] * 2 * has_codes + [size for shape in shapes for size in _STATES[name](shape)]


def _adamw(shape: Shape) -> list[int]:
    return [*_floats(2)(shape), _STEP]


def _adamw_8bit(shape: Shape) -> list[int]:
    values = math.prod(shape)
    if values < _QUANTIZED:
        return _floats(2)(shape)
    return [values, _FLOAT * math.ceil(values / _BLOCK_8)] * 2


def _adamw_4bit(shape: Shape) -> list[int]:
    values = math.prod(shape)
    if values < _QUANTIZED or values % _BLOCK_4:
        return _adamw(shape)
    return [*[values // 2, _FLOAT * values // _BLOCK_4, _CODEBOOK_4] * 2, _STEP]


def _adafactor(shape: Shape) -> list[int]:
    """Means of rows and of columns (arXiv 1804.04235)."""
    values = math.prod(shape)
    means = [values // shape[-1], values // shape[-2]] if len(shape) > 1 else [values]
    return [*(_FLOAT * count for count in means), _STEP]


def _floats(tensors: int) -> Callable[[Shape], list[int]]:
    return lambda shape: [_FLOAT * math.prod(shape)] * tensors


_STATES: Mapping[OptimizerName, Callable[[Shape], list[int]]] = {
    "adamw": _adamw,
    "adamw-8bit": _adamw_8bit,
    "adamw-8bit-paged": _adamw_8bit,
    "adamw-4bit": _adamw_4bit,
    "adafactor": _adafactor,
    "lion": _floats(1),
    "prodigy": _floats(4),
    "schedule-free": _floats(2),
}
