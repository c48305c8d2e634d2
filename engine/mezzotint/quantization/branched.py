"""torch's own layers with branches of low rank, put in and taken out without touching a weight.

A layer with branches shares the state of the one that it stands for: the same parameters under the same names, the
same hooks. Where no branches are wanted torch's own layer is back, so that the network is what it was, bit for bit.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from torch import Tensor, nn

from mezzotint.quantization.convolution import convolved
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLayer, QuantizedLinear
from mezzotint.quantization.linear import Branch, joined, linear


class BranchedLinear(nn.Linear):
    """nn.Linear with branches."""

    def __init__(self, plain: nn.Linear) -> None:
        vars(self).update(vars(plain))
        self.branches: tuple[Branch, ...] = ()
        self.plain = (plain,)  # in a tuple it is no part of the network

    def forward(self, x: Tensor) -> Tensor:
        """x `(..., k)` to `(..., n)`."""
        return linear(x, self.weight, self.bias, self.branches)


class BranchedConv2d(nn.Conv2d):
    """nn.Conv2d with branches."""

    def __init__(self, plain: nn.Conv2d) -> None:
        vars(self).update(vars(plain))
        self.branches: tuple[Branch, ...] = ()
        self.plain = (plain,)

    def forward(self, x: Tensor) -> Tensor:
        """x `(b, c, h, w)` to the picture that the convolution and its branches make of it."""
        return convolved(super().forward(x), x, self.branches, self)


BranchableLayer: TypeAlias = nn.Linear | nn.Conv2d | QuantizedLayer


def branchable_layers(network: nn.Module) -> Iterator[tuple[str, Any]]:
    """The layers that can have branches, by name: linear ones, and convolutions whose groups and edges are plain."""
    for name, module in network.named_modules():
        if _can_branch(module):
            yield name, module


def weight_shape(layer: BranchableLayer) -> tuple[int, ...]:
    """The shape of a layer's weight, quantized or not."""
    return tuple(layer.shape if isinstance(layer, QuantizedLayer) else layer.weight.shape)


def set_branches(network: nn.Module, branches: Mapping[str, Sequence[Branch]]) -> None:
    """Have these branches, by the names of layers, and no others. Each layer's are joined here, once."""
    for name, layer in list(branchable_layers(network)):
        branch = joined(branches.get(name, ()))
        if isinstance(layer, QuantizedLayer):
            layer.branches = () if branch is None else (branch,)
        elif branch is not None:
            _branched(network, name, layer).branches = (branch,)
        elif isinstance(layer, BranchedLinear | BranchedConv2d):
            _put(network, name, layer.plain[0])


def _branched(network: nn.Module, name: str, layer: nn.Linear | nn.Conv2d) -> BranchedLinear | BranchedConv2d:
    if isinstance(layer, BranchedLinear | BranchedConv2d):
        return layer
    branched = BranchedConv2d(layer) if isinstance(layer, nn.Conv2d) else BranchedLinear(layer)
    _put(network, name, branched)
    return branched


def _put(network: nn.Module, name: str, layer: nn.Module) -> None:
    parent, _, child = name.rpartition(".")
    setattr(network.get_submodule(parent), child, layer)


def _can_branch(module: nn.Module) -> bool:
    if type(module) in (nn.Conv2d, BranchedConv2d):
        return bool(module.groups == 1 and module.padding_mode == "zeros")
    if isinstance(module, QuantizedConv2d):
        return module.groups == 1
    return type(module) in (nn.Linear, BranchedLinear, QuantizedLinear)
