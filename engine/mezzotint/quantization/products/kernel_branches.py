"""Low-rank branches in the form that the kernels need: in x's dtype, with ranks in steps of 16.

Nothing is cached: a branch already in this form is used in place; otherwise a copy lives for one product.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.linear import Branch

RANK_STEP = 16
HIGHEST_RANK = 256
_ALIGNMENT = 16  # bytes, required of every row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelBranches:
    """Branches that the kernel adds within the product, and those added to its result."""

    inside: Branch | None
    outside: Branch | None


def kernel_branches(branches: Sequence[Branch], dtype: torch.dtype) -> KernelBranches:
    """Split a layer's branches, all of scale 1, for x of this dtype; the first that fit go inside."""
    inside: list[Branch] = []
    outside: list[Branch] = []
    for branch in branches:
        rank = branch.down.shape[0] + sum(each.down.shape[0] for each in inside)
        (inside if rank <= HIGHEST_RANK else outside).append(branch)
    return KernelBranches(inside=_one(inside, dtype, step=RANK_STEP), outside=_one(outside, dtype))


def _one(branches: Sequence[Branch], dtype: torch.dtype, step: int = 1) -> Branch | None:
    """Join branches into one of this dtype, zero-padded to a rank that is a multiple of `step`."""
    if not branches:
        return None
    down = _joined([branch.down.to(dtype) for branch in branches], 0)
    up = _joined([branch.up.to(dtype) for branch in branches], 1)
    missing = -down.shape[0] % step
    if missing:
        down, up = functional.pad(down, (0, 0, 0, missing)), functional.pad(up, (0, missing))
    return Branch(down=down, up=up)


def _joined(factors: Sequence[Tensor], dim: int) -> Tensor:
    """Concatenate factors; a single one that kernels can read in place is returned as is."""
    first = factors[0]
    if len(factors) == 1 and first.is_contiguous() and first.data_ptr() % _ALIGNMENT == 0:
        return first
    return torch.cat(list(factors), dim)
