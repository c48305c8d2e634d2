"""Training of low-rank changes to weights (LoRA, arXiv 2106.09685), so that a variant's file is small."""

import re
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

_WEIGHT = ".weight"


class LowRank(nn.Module):
    """What is added to a weight `(out, ...)` of `n` numbers a row: `up` `(out, r)` times `down` `(r, n)`."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        rows, columns = weight.flatten(1).shape
        self.down = nn.Parameter(torch.randn(rank, columns) / columns**0.5)
        self.up = nn.Parameter(torch.zeros(rows, rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the changed weight."""
        return weight + (self.up @ self.down).view_as(weight)


def add_low_rank(network: nn.Module, layers: str, rank: int) -> None:
    """Add one to the frozen weight of each layer whose name matches the regular expression."""
    for name, layer in list(network.named_modules()):
        if re.fullmatch(layers, name) and isinstance(layer, nn.Linear | nn.Conv2d):
            layer.weight.requires_grad_(False)
            change = LowRank(layer.weight, min(rank, *layer.weight.flatten(1).shape))
            parametrize.register_parametrization(layer, "weight", change)


def merge_low_rank(network: nn.Module) -> Mapping[str, tuple[Tensor, Tensor]]:
    """Make the changed weights the network's own; returns `up` and `down` by the name of each weight."""
    changes = {}
    for name, layer in list(network.named_modules()):
        if parametrize.is_parametrized(layer, "weight"):
            (change,) = layer.parametrizations.weight
            changes[name + _WEIGHT] = (change.up.detach(), change.down.detach())
            parametrize.remove_parametrizations(layer, "weight")
    return changes
