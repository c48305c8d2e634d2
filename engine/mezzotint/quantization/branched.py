"""LoRAs on a network's layers: computed beside quantized weights, merged into plain weights where they compute.

A plain layer with branches shares the state of the layer it replaces: the same parameters under the same names, the
same hooks. Branches are merged into a copy; removing them restores torch's layer with its original weight, so the
network is restored bit for bit.
"""

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import torch
from torch import Tensor, nn

from mezzotint.quantization.dora import Dora, has_kronecker
from mezzotint.quantization.layers import Beside, QuantizedConv2d, QuantizedLayer, QuantizedLinear
from mezzotint.quantization.linear import Branch, join_branches
from mezzotint.quantization.lycoris import Difference, Hadamard, Kronecker
from mezzotint.quantization.oft import Rotation
from mezzotint.quantization.transform import Delta, FromBase, transform

_CHANGED = "changed"  # of modules: by parameter, the plain one where it was merged, and what changes it
_MERGE_CHUNK = 2**20  # elements merged at a time, to bound temporary memory


class MergedLinear(nn.Linear):
    """nn.Linear whose weight includes its branches wherever it computes."""

    merges = True

    def __init__(self, plain: nn.Linear, branches: tuple[Delta, ...]) -> None:
        vars(self).update(vars(plain))
        self.branches = branches
        self.plain = (plain,)  # in a tuple, so that it is not registered as a submodule


class MergedConv2d(nn.Conv2d):
    """The nn.Conv2d counterpart of MergedLinear."""

    merges = True

    def __init__(self, plain: nn.Conv2d, branches: tuple[Delta, ...]) -> None:
        vars(self).update(vars(plain))
        self.branches = branches
        self.plain = (plain,)


BranchableLayer: TypeAlias = nn.Linear | nn.Conv2d | QuantizedLayer


def branchable_layers(network: nn.Module) -> Iterator[tuple[str, Any]]:
    """Layers that can have branches, by name: linear layers, and convolutions without groups and with zero padding."""
    for name, module in network.named_modules():
        if is_branchable(module):
            yield name, module


def weight_shape(layer: BranchableLayer) -> tuple[int, ...]:
    """Shape of a layer's weight, quantized or not."""
    return tuple(layer.shape if isinstance(layer, QuantizedLayer) else layer.weight.shape)


def set_branches(
    network: nn.Module,
    branches: Mapping[str, Sequence[Delta]],
    changes: Mapping[str, Sequence[Difference]] = MappingProxyType({}),
    *,
    merge_now: bool = True,
) -> None:
    """Set the network's branches, by layer name, and remove all others; layers with the same branches are left alone.

    `changes`: what is added to other parameters, such as biases and norms, by their names.
    `merge_now`: weights compute where they are stored, so plain ones are merged here, each into a copy. Otherwise they
    are merged after they were copied to the device (`merged_branches`).
    """
    _restore(network)
    for name, layer in list(branchable_layers(network)):
        wanted = tuple(branches.get(name, ()))
        if isinstance(layer, QuantizedLayer):
            layer.branches = _joined_for_quantized(wanted, convolution=isinstance(layer, QuantizedConv2d))
        elif not same_branches(wanted, getattr(layer, "branches", ())):
            plain = layer.plain[0] if isinstance(layer, MergedLinear | MergedConv2d) else layer
            _put(network, name, _merged(plain, wanted, merge_now=merge_now) if wanted else plain)
    for name, differences in changes.items():
        _change(network, name, tuple(differences), merge_now=merge_now)


def merged_branches(network: nn.Module) -> dict[str, tuple[Delta, ...]]:
    """What to merge into weights, by their names; includes layers that are currently replaced by a proxy."""
    found: dict[str, tuple[Delta, ...]] = {}
    for name, module in network.named_modules():
        if getattr(module, "merges", None):
            found[f"{name}.weight"] = cast(MergedLinear | MergedConv2d, module).branches
        for parameter, (_, changes) in vars(module).get(_CHANGED, {}).items():
            found[f"{name}.{parameter}"] = changes
    return found


def same_branches(a: Sequence[Delta], b: Sequence[Delta]) -> bool:
    """Whether both are the same branches: identical factor tensors and equal scales."""
    return len(a) == len(b) and all(
        type(x) is type(y) and x.scale == y.scale and all(map(operator.is_, x.factors, y.factors))
        for x, y in zip(a, b, strict=True)
    )


def merge(target: Tensor, weight: Tensor, branches: Sequence[Delta]) -> None:
    """Fill target with weight `(n, ...)` plus its branches.

    Summed in at least float32, one branch after the other, and rounded once; target may be the weight itself. DoRAs
    and OFTs change the weight as it was, without other branches.
    """
    dtype = torch.promote_types(weight.dtype, torch.float32)
    exact = [each.map_factors(lambda factor: factor.to(dtype)) for each in branches]
    step = _step(weight, branches)
    for start in range(0, weight.shape[0], step):
        rows = slice(start, start + step)
        some = weight[rows]
        base = some.to(dtype, copy=True, memory_format=torch.contiguous_format).reshape(len(some), -1)
        total = base.clone() if any(isinstance(each, FromBase) for each in exact) else base
        for each in exact:
            if isinstance(each, FromBase):
                each.add_rows(total, rows, base)
            else:
                each.add_rows(total, rows)
        target[rows].copy_(total.view_as(some))


def _step(weight: Tensor, branches: Sequence[Delta]) -> int:
    """Number of rows to merge at a time: whole groups of rows that become mixtures of one another."""
    group = math.lcm(*(each.joined_rows for each in branches if isinstance(each, Rotation)))
    return max(1, _MERGE_CHUNK // max(1, weight[0].numel()) // group) * group


def _change(network: nn.Module, name: str, changes: tuple[Difference, ...], *, merge_now: bool) -> None:
    """Add to a parameter or buffer that is no branchable layer's weight."""
    path, _, parameter = name.rpartition(".")
    module = network.get_submodule(path)
    entries: dict[str, Any] = module._parameters if parameter in module._parameters else module._buffers
    plain = entries[parameter] if merge_now else None
    vars(module).setdefault(_CHANGED, {})[parameter] = (plain, changes)
    if plain is not None:
        with torch.inference_mode(False), torch.no_grad():
            merged = torch.empty_like(plain)
            merge(merged, plain, changes)
            entries[parameter] = nn.Parameter(merged, requires_grad=False) if entries is module._parameters else merged


def _restore(network: nn.Module) -> None:
    """Undo all changes of parameters."""
    for module in network.modules():
        for parameter, (plain, _) in vars(module).pop(_CHANGED, {}).items():
            if plain is not None:
                entries: dict[str, Any] = module._parameters if parameter in module._parameters else module._buffers
                entries[parameter] = plain


def _merged(
    plain: nn.Linear | nn.Conv2d, branches: tuple[Delta, ...], *, merge_now: bool
) -> MergedLinear | MergedConv2d:
    layer = (MergedConv2d if isinstance(plain, nn.Conv2d) else MergedLinear)(plain, branches)  # type: ignore[arg-type]
    if merge_now:
        with torch.inference_mode(False), torch.no_grad():
            weight = torch.empty_like(plain.weight)
            merge(weight, plain.weight, branches)
            vars(layer)["_parameters"] = {**plain._parameters, "weight": nn.Parameter(weight, requires_grad=False)}
    return layer


def _joined_for_quantized(branches: Sequence[Delta], *, convolution: bool) -> tuple[Beside, ...]:
    """Branches as a quantized layer computes them: low-rank ones, Kronecker ones, and the weight's transform.

    Low-rank ones are joined here, unless they are being trained: then their factors change, and join in each product.
    """
    kroneckers = [each for each in branches if isinstance(each, Kronecker | Dora) and has_kronecker(each)]
    low_rank = [branch for each in branches if (branch := _as_branch(each)) is not None]
    if not any(factor.requires_grad for each in low_rank for factor in each.factors):
        joined = join_branches(low_rank)
        low_rank = [] if joined is None else [joined]
    around = transform([each for each in branches if isinstance(each, FromBase)], convolution=convolution)
    return (*low_rank, *kroneckers, *([] if around is None else [around]))


def _as_branch(delta: Delta) -> Branch | None:
    """The low-rank branch that it is, apart from the weight's transform; None if it is none."""
    if isinstance(delta, Dora):
        return delta.scaled_update()
    if isinstance(delta, Hadamard | Difference):
        return delta.as_branch()
    return delta if isinstance(delta, Branch) else None


def _put(network: nn.Module, name: str, layer: nn.Module) -> None:
    parent, _, child = name.rpartition(".")
    setattr(network.get_submodule(parent), child, layer)


def is_branchable(module: nn.Module) -> bool:
    """Whether a layer's weight can have branches."""
    if type(module) in (nn.Conv2d, MergedConv2d):
        return bool(module.groups == 1 and module.padding_mode == "zeros")
    if isinstance(module, QuantizedConv2d):
        return module.groups == 1
    return type(module) in (nn.Linear, MergedLinear, QuantizedLinear)
