"""Regular Hadamard rotation that spreads outliers over a group of columns (ConvRot, arXiv 2512.03673)."""

import functools

import torch
from torch import Tensor

from mezzotint.quantization.constants import constant

LARGEST_GROUP = 256
GROUPS = (4, 16, 64, 256)


def rotate(x: Tensor, group: int) -> Tensor:
    """Rotate each group of columns of x `(..., n)`; the rotation is its own inverse. 0 returns x unchanged."""
    if group == 0:
        return x
    grouped = x.reshape(*x.shape[:-1], x.shape[-1] // group, group)
    return (grouped @ constant(hadamard, group, device=x.device, dtype=x.dtype)).reshape(x.shape)


def best_group(columns: int, largest: int = LARGEST_GROUP) -> int:
    """Largest group size of at least 16 that divides the columns; 0 if none does."""
    return max((group for group in GROUPS[1:] if group <= largest and columns % group == 0), default=0)


@functools.cache
def hadamard(group: int) -> Tensor:
    """Symmetric orthogonal matrix `(group, group)`: a Kronecker power of a 4x4 matrix with equal row sums.

    Raises ValueError if group is not 4, 16, 64 or 256.
    """
    if group not in GROUPS:
        raise ValueError(f"a rotation's group size must be one of {', '.join(map(str, GROUPS))}, not {group}")
    smallest = torch.ones(4, 4) - 2 * torch.eye(4).flip(1)
    matrix: Tensor = smallest
    while matrix.shape[0] < group:
        matrix = torch.kron(matrix, smallest)
    scaled: Tensor = matrix / group**0.5
    return scaled
