"""Reference for row preparation, rotation and quantization in plain torch float64, with error bounds."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint_kernels.abi import Preparation

LARGEST = 127
HADAMARD = ((1, 1, 1, -1), (1, 1, -1, 1), (1, -1, 1, 1), (-1, 1, 1, 1))  # twice the smallest rotation


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Preparation of a row `(n)` before rounding; tensors are `(n)`, those of modulation `(m, n)`."""

    preparation: Preparation = Preparation.AS_IT_IS
    norm_weight: Tensor | None = None
    norm_bias: Tensor | None = None
    shift: Tensor | None = None
    gain: Tensor | None = None
    group: int = 0
    epsilon: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Float64 values `(m, n)`, and for each the magnitude of its terms, to which errors are relative."""

    values: Tensor
    size: Tensor


def hadamard(group: int) -> Tensor:
    """Return the regular Hadamard matrix `(group, group)`, orthogonal and symmetric, by its definition."""
    smallest = torch.tensor(HADAMARD, dtype=torch.float64) / 2
    matrix = torch.ones(1, 1, dtype=torch.float64)
    while matrix.shape[0] < group:
        matrix = torch.kron(matrix, smallest)
    return matrix


def prepare(x: Tensor, changes: Changes) -> Rows:
    """Return x `(m, n)`, for GEGLU `(m, 2 n)`, as it is before rounding."""
    rows = _modulated(_prepared(x.double(), changes), changes)
    if not changes.group:
        return rows
    grouped = rows.values.unflatten(1, (-1, changes.group)), rows.size.unflatten(1, (-1, changes.group))
    matrix = hadamard(changes.group)
    return Rows(values=(grouped[0] @ matrix).flatten(1), size=(grouped[1] @ matrix.abs()).flatten(1))


def scales_of(values: Tensor, largest_integer: float = LARGEST) -> Tensor:
    """Return the scale `(m, 1)` per row in the dtype of `values`, of the largest magnitude; 1 for zeros."""
    if values.shape[1] == 0:
        return torch.ones_like(values[:, :0].sum(dim=1, keepdim=True))
    largest = values.abs().amax(dim=1, keepdim=True)
    scales = (largest / largest_integer).clamp(min=torch.finfo(torch.float32).tiny)
    return torch.where(largest == 0, torch.ones_like(scales), scales)


def _prepared(x: Tensor, changes: Changes) -> Rows:
    match changes.preparation:
        case Preparation.LAYER_NORM | Preparation.RMS_NORM:
            return _normalized(x, changes)
        case Preparation.SILU:
            return Rows(values=x * torch.sigmoid(x), size=x.abs() * torch.sigmoid(x) * (1 + x.abs()))
        case Preparation.GELU_TANH:
            twice = math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)
            values = x * torch.sigmoid(twice)
            return Rows(values=values, size=values.abs() * (1 + 4 * twice.abs()))
        case Preparation.GEGLU:
            a, b = x.chunk(2, dim=1)
            return Rows(values=a * 0.5 * b * (1 + torch.erf(b * math.sqrt(0.5))), size=(a * b).abs())
    return Rows(values=x, size=x.abs())


def _normalized(x: Tensor, changes: Changes) -> Rows:
    mean = x.mean(dim=1, keepdim=True) if changes.preparation is Preparation.LAYER_NORM else torch.zeros(1, 1)
    centred = x - mean
    by = (centred.square().mean(dim=1, keepdim=True) + changes.epsilon).rsqrt()
    values, size = centred * by, (centred.abs() + x.abs().mean(dim=1, keepdim=True)) * by
    if changes.norm_weight is not None:
        values, size = values * changes.norm_weight.double(), size * changes.norm_weight.double().abs()
    if changes.norm_bias is not None:
        values, size = values + changes.norm_bias.double(), size + changes.norm_bias.double().abs()
    return Rows(values=values, size=size)


def _modulated(rows: Rows, changes: Changes) -> Rows:
    if changes.shift is None or changes.gain is None:
        return rows
    shift, gain = changes.shift.double(), changes.gain.double()
    return Rows(values=rows.values * (1 + gain) + shift, size=rows.size * (1 + gain.abs()) + shift.abs())
