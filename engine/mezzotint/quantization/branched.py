"""What LoRAs add to the layers of a network: beside quantized weights, merged into plain ones where they compute.

A plain layer with branches shares the state of the one that it stands for: the same parameters under the same names,
the same hooks. What is merged is merged into a copy: where no branches are wanted torch's own layer is back with the
weight that it had, so that the network is what it was, bit for bit.
"""

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLayer, QuantizedLinear
from mezzotint.quantization.linear import Branch, joined
from mezzotint.quantization.lycoris import Delta, Hadamard, Kronecker

_AT_ONCE = 2**20  # numbers of a weight that are merged at a time, which bounds what that takes beside it


class MergedLinear(nn.Linear):
    """nn.Linear whose weight is the sum of its own and its branches, where it computes."""

    merges = True

    def __init__(self, plain: nn.Linear, branches: tuple[Delta, ...]) -> None:
        vars(self).update(vars(plain))
        self.branches = branches
        self.plain = (plain,)  # in a tuple it is no part of the network


class MergedConv2d(nn.Conv2d):
    """nn.Conv2d of the same kind."""

    merges = True

    def __init__(self, plain: nn.Conv2d, branches: tuple[Delta, ...]) -> None:
        vars(self).update(vars(plain))
        self.branches = branches
        self.plain = (plain,)


BranchableLayer: TypeAlias = nn.Linear | nn.Conv2d | QuantizedLayer


def branchable_layers(network: nn.Module) -> Iterator[tuple[str, Any]]:
    """The layers that can have branches, by name: linear ones, and convolutions whose groups and edges are plain."""
    for name, module in network.named_modules():
        if _can_branch(module):
            yield name, module


def weight_shape(layer: BranchableLayer) -> tuple[int, ...]:
    """The shape of a layer's weight, quantized or not."""
    return tuple(layer.shape if isinstance(layer, QuantizedLayer) else layer.weight.shape)


def set_branches(network: nn.Module, branches: Mapping[str, Sequence[Delta]], *, at_rest: bool = True) -> None:
    """Have these branches, by the names of layers, and no others; layers whose branches stay are left alone.

    `at_rest`: weights compute where they lie, so plain ones are merged here, each into a copy. Otherwise they are
    merged where they are brought to (`merged_branches`).
    """
    for name, layer in list(branchable_layers(network)):
        wanted = tuple(branches.get(name, ()))
        if isinstance(layer, QuantizedLayer):
            layer.branches = _beside(wanted)
        elif not same_branches(wanted, getattr(layer, "branches", ())):
            plain = layer.plain[0] if isinstance(layer, MergedLinear | MergedConv2d) else layer
            _put(network, name, _merged(plain, wanted, at_rest=at_rest) if wanted else plain)


def merged_branches(network: nn.Module) -> dict[str, tuple[Delta, ...]]:
    """By the names of weights, what is to be merged into them; also of layers that something else stands for now."""
    return {
        f"{name}.weight": module.branches for name, module in network.named_modules() if getattr(module, "merges", None)
    }


def same_branches(a: Sequence[Delta], b: Sequence[Delta]) -> bool:
    """Whether they add the same: the very same factors, at the same scale."""
    return len(a) == len(b) and all(
        type(x) is type(y) and x.scale == y.scale and all(map(operator.is_, x.factors, y.factors))
        for x, y in zip(a, b, strict=True)
    )


def merge(target: Tensor, weight: Tensor, branches: Sequence[Delta]) -> None:
    """Fill target with weight `(n, ...)` plus what each branch adds.

    Summed in float32 at least, one branch after the other, and rounded once; target may be the weight itself.
    """
    dtype = torch.promote_types(weight.dtype, torch.float32)
    exact = [each.moved(lambda factor: factor.to(dtype)) for each in branches]
    step = max(1, _AT_ONCE // max(1, weight[0].numel()))
    for start in range(0, weight.shape[0], step):
        rows = slice(start, start + step)
        total = weight[rows].to(dtype, copy=True, memory_format=torch.contiguous_format).flatten(1)
        for each in exact:
            each.add_rows(total, rows)
        target[rows].copy_(total.view_as(weight[rows]))


def _merged(plain: nn.Linear | nn.Conv2d, branches: tuple[Delta, ...], *, at_rest: bool) -> MergedLinear | MergedConv2d:
    layer = (MergedConv2d if isinstance(plain, nn.Conv2d) else MergedLinear)(plain, branches)  # type: ignore[arg-type]
    if at_rest:
        with torch.inference_mode(False), torch.no_grad():
            weight = torch.empty_like(plain.weight)
            merge(weight, plain.weight, branches)
            vars(layer)["_parameters"] = {**plain._parameters, "weight": nn.Parameter(weight, requires_grad=False)}
    return layer


def _beside(branches: Sequence[Delta]) -> tuple[Branch | Kronecker, ...]:
    """What a quantized layer computes: all that is of low rank in one product, and the others."""
    low_rank = joined(
        [
            each.as_branch() if isinstance(each, Hadamard) else each
            for each in branches
            if not isinstance(each, Kronecker)
        ]
    )
    kroneckers = tuple(each for each in branches if isinstance(each, Kronecker))
    return kroneckers if low_rank is None else (low_rank, *kroneckers)


def _put(network: nn.Module, name: str, layer: nn.Module) -> None:
    parent, _, child = name.rpartition(".")
    setattr(network.get_submodule(parent), child, layer)


def _can_branch(module: nn.Module) -> bool:
    if type(module) in (nn.Conv2d, MergedConv2d):
        return bool(module.groups == 1 and module.padding_mode == "zeros")
    if isinstance(module, QuantizedConv2d):
        return module.groups == 1
    return type(module) in (nn.Linear, MergedLinear, QuantizedLinear)
