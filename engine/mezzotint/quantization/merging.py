"""Branches added into copies of weights on a device, where nothing else is asked of these: no layer is slower then.

Sums are made in float32 and rounded once, so that an image differs by rounding from one made with the branches beside
the weights. What weights are copied from stays as it is.
"""

import torch
from torch import Tensor, nn

from mezzotint.quantization.linear import Branch

_ROWS = 1024  # of a weight at a time


class Resident(nn.Parameter):
    """A copy of a weight on the device, over which no other is written: what is added to it goes when it leaves."""


def merge(weight: Tensor, branch: Branch) -> None:
    """Add what a joined branch adds to a weight `(n, k)`, or `(n, c, kh, kw)`; where there is no memory, nothing."""
    rows, up, down = weight.flatten(1), branch.up.flatten(1).float(), branch.down.flatten(1).float()
    sums = torch.empty((min(_ROWS, len(rows)), rows.shape[1]), dtype=torch.float32, device=weight.device)
    for begin in range(0, len(rows), _ROWS):  # from here on nothing is allocated
        part = rows[begin : begin + _ROWS]
        here = sums[: len(part)]
        here.copy_(part)
        here.addmm_(up[begin : begin + _ROWS], down)
        part.copy_(here)
