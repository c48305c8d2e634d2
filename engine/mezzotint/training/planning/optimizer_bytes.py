"""Bytes of the optimizers' state, tensor by tensor as torch's allocator rounds them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from mezzotint.memory.accounting import rounded
from mezzotint.training.optimizers import state_bytes
from mezzotint.training_protocol import OptimizerName

Shape = Sequence[int]
_FLOAT = 4
_LEAST_8BIT = 4096  # numbers of a tensor below which bitsandbytes keeps 32 bits
_BLOCK_8BIT = 256  # numbers that share a scale
_CODES = 2 * 256 * _FLOAT  # tables of 8-bit codes, shared by all tensors


def numbers_bytes(shapes: Iterable[Shape]) -> int:
    """Bytes of float32 tensors: the factors, their gradients, or their average."""
    return sum(rounded(_FLOAT * math.prod(shape)) for shape in shapes)


def optimizer_bytes(name: OptimizerName, shapes: Sequence[Shape]) -> int:
    """Bytes of an optimizer's state for parameters of these shapes."""
    if name not in _STATES:
        return state_bytes(name, shapes)
    shared = _CODES if name == "adamw-8bit" else 0
    return shared + sum(_STATES[name](shape) for shape in shapes)


def _adamw(shape: Shape) -> int:
    return 2 * rounded(_FLOAT * math.prod(shape)) + rounded(_FLOAT)  # two moments, and the number of steps


def _adamw_8bit(shape: Shape) -> int:
    count = math.prod(shape)
    if count < _LEAST_8BIT:
        return 2 * rounded(_FLOAT * count)
    return 2 * (rounded(count) + rounded(_FLOAT * -(-count // _BLOCK_8BIT)))


def _adafactor(shape: Shape) -> int:
    rows, columns = math.prod(shape[:-1]), math.prod((*shape[:-2], shape[-1]))
    return rounded(_FLOAT * rows) + rounded(_FLOAT * columns) + rounded(_FLOAT)


def _lion(shape: Shape) -> int:
    return rounded(_FLOAT * math.prod(shape))


_STATES: Mapping[OptimizerName, Callable[[Shape], int]] = {
    "adamw": _adamw,
    "adamw-8bit": _adamw_8bit,
    "adafactor": _adafactor,
    "lion": _lion,
}
