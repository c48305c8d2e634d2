"""What a product with a quantized weight can include: the norm and modulation of its input, its gate and residual."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from mezzotint.dispatch.library import Activation, Preparation

NormModule: TypeAlias = Any  # an nn.LayerNorm, nn.RMSNorm or diffusers' RMSNorm, which has no type annotations

_LESS_ONE = "Krea2RMSNorm"  # its weight is stored less 1, in float32
_NORMS = {"LayerNorm": Preparation.LAYER_NORM, "RMSNorm": Preparation.RMS_NORM, _LESS_ONE: Preparation.RMS_NORM}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Norm:
    """The norm of x `(b, n, k)`, modulated: `norm(x) (1 + gain) + shift`."""

    module: NormModule
    gain: Tensor | None = None  # (b, 1, k), or of one batch for all
    shift: Tensor | None = None  # None: 0

    def preparation(self, x: Tensor) -> Preparation | None:
        """The kernel's name of the norm of x; None if it has none."""
        kind = type(self.module)
        if kind not in (nn.LayerNorm, nn.RMSNorm) and not kind.__module__.startswith("diffusers."):
            return None
        found = None if self.module.eps is None else _NORMS.get(kind.__name__)
        tensors = [each for each in (self.gain, self.shift, self.weight, self.bias) if each is not None]
        if any(each.dtype != x.dtype for each in tensors):
            return None
        return found if all(map(_is_of_batches, (self.gain, self.shift))) else None

    @property
    def epsilon(self) -> float:
        """The number below the root."""
        return float(self.module.eps)

    @property
    def weight(self) -> Tensor | None:
        """The norm's own weight `(k)`, if it is not in the modulation."""
        weight: Tensor | None = None if self._is_less_one else getattr(self.module, "weight", None)
        return weight

    @property
    def bias(self) -> Tensor | None:
        """The norm's own bias `(k)`."""
        bias: Tensor | None = getattr(self.module, "bias", None)
        return bias

    @property
    def _is_less_one(self) -> bool:
        return type(self.module).__name__ == _LESS_ONE

    def modulation(self, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Gain and shift of x, in its dtype; a weight that is stored less 1 is part of the gain.

        That is rounded once, where diffusers rounds the norm, 1 + gain, their product and its sum with the shift.
        """
        if not self._is_less_one:
            return self.gain, self.shift
        weight = self.module.weight.float().expand(1, 1, -1)
        gain = weight if self.gain is None else torch.addcmul(weight + self.gain, weight, self.gain.float())
        return gain.to(x.dtype), self.shift

    def plain(self, x: Tensor) -> Tensor:
        """The same in torch, in the order of diffusers."""
        y: Tensor = self.module(x)
        y = y if self.gain is None else y * (1 + self.gain)
        return y if self.shift is None else y + self.shift


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ending:
    """What becomes of a product y `(b, n, c)`: `residual + gate y`."""

    residual: Tensor  # (b, n, c)
    gate: Tensor | None = None  # (b, 1, c), or of one batch for all; None: 1

    def plain(self, y: Tensor) -> Tensor:
        """The same in torch."""
        return self.residual + (y if self.gate is None else self.gate * y)

    @property
    def is_known(self) -> bool:
        """Whether the kernels have it: a gate for each batch, in the residual's dtype."""
        return _is_of_batches(self.gate) and (self.gate is None or self.gate.dtype == self.residual.dtype)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Around:
    """What a product includes."""

    norm: Norm | None = None
    activation: Activation = Activation.NONE
    ending: Ending | None = None

    @property
    def is_something(self) -> bool:
        """Whether there is anything."""
        return self.norm is not None or self.ending is not None or self.activation is not Activation.NONE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gated:
    """A gated linear unit: the layers of value and gate, or one with the rows of both."""

    layers: tuple[object, ...]
    activation: Activation = Activation.GATED_SILU
    gate_first: bool = False


def activated(y: Tensor, gate: Tensor | None = None, *, activation: Activation) -> Tensor:
    """What becomes of a product y, and of the one of its gate, in torch."""
    match activation:
        case Activation.GELU_TANH:
            return functional.gelu(y, approximate="tanh")
        case Activation.GATED_GELU if gate is not None:
            return y * functional.gelu(gate)
        case Activation.GATED_SILU if gate is not None:
            return functional.silu(gate) * y
    return y


def _is_of_batches(tensor: Tensor | None) -> bool:
    return tensor is None or (tensor.ndim == 3 and tensor.shape[1] == 1)
