"""How much of a network's linear layers runs as integer products, and what of the rest these include."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torch import Tensor, nn

from mezzotint.dispatch.library import Activation, Preparation
from mezzotint.quantization.fusion.around import Around
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Branch, GatedWeight, JoinedWeight, QuantizedWeight
from mezzotint.quantization.products.products import ProductSession

_IN_BLOCK = re.compile(r"(?:.*\.)?\d+\..*")


@dataclass(slots=True, kw_only=True)
class LinearShare:
    """Floating-point operations of linear layers in a network's blocks, 2 m n k each."""

    total: int = 0
    integers: int = 0  # as our integer products
    before: int = 0  # of these, those that include a norm, modulation or activation of their input
    after: int = 0  # of these, those that include an activation, gate or residual of their output
    neither: int = 0  # of these, the rest: what surrounds them runs by itself, or is nothing
    joined: int = 0  # of the integer products, those of queries, keys and values at once

    def part(self, flops: int) -> float:
        """The part of all operations, 0 to 1."""
        return flops / self.total if self.total else 0.0


@contextmanager
def counting_share(network: nn.Module, session: ProductSession) -> Iterator[LinearShare]:
    """Count what the network computes inside the context, in which the session's layers must multiply."""
    share, counted = LinearShare(), set[int]()
    kernels, hooks = session.integers.kernels, []
    for name, module in network.named_modules():
        if _IN_BLOCK.fullmatch(name) and isinstance(module, nn.Linear | QuantizedLinear):
            hooks.append(module.register_forward_hook(lambda layer, given, _: _add(share, counted, layer, given[0])))
    if kernels is not None:
        session.integers.kernels = _Counted(kernels, share, counted)
    try:
        yield share
    finally:
        if kernels is not None:
            session.integers.kernels = kernels
        for hook in hooks:
            hook.remove()


def _add(share: LinearShare, counted: set[int], layer: nn.Linear | QuantizedLinear, x: Tensor) -> None:
    """Count a layer that was called, unless it was counted as a part of a product."""
    place = _place(layer.weight) if isinstance(layer, QuantizedLinear) else 0
    if place in counted:
        counted.discard(place)
        return
    share.total += 2 * layer.in_features * layer.out_features * (x.numel() // x.shape[-1])


def _place(weight: QuantizedWeight) -> int:
    return next(iter(weight.tensors.values())).data_ptr()


class _Counted:
    """Kernels that count the operations of every product that they made."""

    def __init__(self, kernels: Callable[..., Tensor], share: LinearShare, counted: set[int]) -> None:
        self._kernels, self._share, self._counted = kernels, share, counted

    def __call__(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None,
        branch: Branch | None,
        preparation: Preparation,
        around: Around,
    ) -> Tensor:
        """Same as the kernels'."""
        made = self._kernels(x, weight, bias, branch, preparation, around)
        flops = 2 * made.numel() * weight.shape[1] * (2 if isinstance(weight, GatedWeight) else 1)
        activated = around.activation is not Activation.NONE
        before = preparation is not Preparation.AS_IT_IS or around.norm is not None
        after = around.ending is not None or activated
        if isinstance(weight, JoinedWeight):
            self._share.joined += flops * (not isinstance(weight, GatedWeight))
            self._counted.update(_place(part) for part in weight.parts)
        if activated or isinstance(weight, JoinedWeight):  # most processors do not call the layers themselves
            self._share.total += flops
        self._share.integers += flops
        self._share.before += flops * before
        self._share.after += flops * after
        self._share.neither += flops * (not before and not after)
        return made
