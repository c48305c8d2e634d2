"""Feature maps phi of kernelized attention: exp(q k^T) becomes phi(q) phi(k)^T.

Maps take and return float32 or wider. Features of hidden keys are set to 0 later; here they only must not count where
a map looks at all keys.
"""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional


class KernelMap(IntEnum):
    """The maps that kernels apply themselves: MztFeatureMap of kernels/csrc/linear_attention_api.h."""

    IDENTITY = 0
    RELU = 1
    ELU_PLUS_ONE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelForm:
    """Attention by a map as kernels compute it: divided by max(total, least) + epsilon, or not at all."""

    map: KernelMap = KernelMap.IDENTITY  # of features that are computed before
    divided: bool = True
    least: float = -math.inf
    epsilon: float = 0.0


class FeatureMap(Protocol):
    """Features of queries and keys, and what their products are divided by."""

    @property
    def kernel_form(self) -> KernelForm:
        """How the kernels compute it."""

    def queries(self, q: Tensor) -> Tensor:
        """Map `(b, h, nq, d)` to `(b, h, nq, r)`."""

    def keys(self, k: Tensor, seen: Tensor | None) -> Tensor:
        """Map `(b, h, nk, d)` to `(b, h, nk, r)`; `seen`, of bool, broadcasts to `(b, h, nk, 1)`."""

    def divisor(self, total: Tensor) -> Tensor:
        """Return what the sum of values is divided by, for `total` = phi(q) times the sum of phi(k)."""


@dataclass(frozen=True, slots=True)
class Efficient:
    """Softmax of queries over the head's channels and of keys over tokens, undivided (arXiv 1812.01243)."""

    @property
    def kernel_form(self) -> KernelForm:
        """How the kernels compute it."""
        return KernelForm(divided=False)

    def queries(self, q: Tensor) -> Tensor:
        """Softmax over channels."""
        return q.softmax(dim=-1)

    def keys(self, k: Tensor, seen: Tensor | None) -> Tensor:
        """Softmax over the visible tokens of each channel."""
        hidden = k if seen is None else k.masked_fill(~seen, torch.finfo(k.dtype).min)
        return hidden.softmax(dim=-2)

    def divisor(self, total: Tensor) -> Tensor:
        """One: both softmaxes already sum to it."""
        return torch.ones_like(total)


@dataclass(frozen=True, slots=True)
class Elu:
    """elu(x) + 1 (Linear Transformer, arXiv 2006.16236)."""

    epsilon: float = 1e-6

    @property
    def kernel_form(self) -> KernelForm:
        """How the kernels compute it."""
        return KernelForm(map=KernelMap.ELU_PLUS_ONE, epsilon=self.epsilon)

    def queries(self, q: Tensor) -> Tensor:
        """Map each channel to a positive number."""
        return functional.elu(q) + 1

    def keys(self, k: Tensor, seen: Tensor | None) -> Tensor:  # noqa: ARG002
        """Same as for queries."""
        return functional.elu(k) + 1

    def divisor(self, total: Tensor) -> Tensor:
        """The sum of the weights."""
        return total + self.epsilon


@dataclass(frozen=True, slots=True)
class Relu:
    """relu(x) (Sana, arXiv 2410.10629); a query whose weights are all 0 gets 0."""

    epsilon: float = 1e-15

    @property
    def kernel_form(self) -> KernelForm:
        """How the kernels compute it."""
        return KernelForm(map=KernelMap.RELU, epsilon=self.epsilon)

    def queries(self, q: Tensor) -> Tensor:
        """Map each channel to a number that is not negative."""
        return q.relu()

    def keys(self, k: Tensor, seen: Tensor | None) -> Tensor:  # noqa: ARG002
        """Same as for queries."""
        return k.relu()

    def divisor(self, total: Tensor) -> Tensor:
        """The sum of the weights."""
        return total + self.epsilon


@dataclass(frozen=True, slots=True)
class PositiveRandom:
    """Positive orthogonal random features, FAVOR+ (Performer, arXiv 2009.14794, with its numerical stabilization).

    phi(x) = m^-1/2 (exp(w x - |x|^2 / 2 - c) + epsilon) for x = scale^1/2 q or k, rows w of the projection
    `(1 or h, m, d)`, and c the maximum of the exponent: over a query's features, or over all keys of a head.
    """

    projection: Tensor
    scale: float
    epsilon: float = 1e-6

    @property
    def kernel_form(self) -> KernelForm:
        """How the kernels compute it."""
        return KernelForm()

    def queries(self, q: Tensor) -> Tensor:
        """Positive features, of at most about m^-1/2."""
        exponents = self._exponents(q)
        return self._features(exponents - exponents.amax(dim=-1, keepdim=True))

    def keys(self, k: Tensor, seen: Tensor | None) -> Tensor:
        """Same as for queries, in proportion to one another."""
        exponents = self._exponents(k)
        if seen is not None:
            exponents = exponents.masked_fill(~seen, torch.finfo(k.dtype).min)
        return self._features(exponents - exponents.amax(dim=(-2, -1), keepdim=True))

    def divisor(self, total: Tensor) -> Tensor:
        """The sum of the weights, which is positive."""
        return total

    def _exponents(self, x: Tensor) -> Tensor:
        x = x * math.sqrt(self.scale)
        return x @ self.projection.to(x).mT - x.square().sum(dim=-1, keepdim=True) / 2

    def _features(self, exponents: Tensor) -> Tensor:
        return (exponents.exp() + self.epsilon) / math.sqrt(exponents.shape[-1])


@dataclass(frozen=True, slots=True)
class RandomFourier:
    """Random Fourier features of queries and keys of length 1 (RFA, arXiv 2103.02143).

    phi(x) = m^-1/2 [sin(w x), cos(w x)], so that phi(q) phi(k)^T estimates the Gaussian kernel of q and k; rows w of
    the projection `(1 or h, m, d)` times the widths sigma `(1 or h, 1, d)`. Estimates may be negative: the sum of the
    weights is at least `floor`.
    """

    projection: Tensor
    sigma: Tensor
    floor: float = 0.1

    @property
    def kernel_form(self) -> KernelForm:
        """How the kernels compute it."""
        return KernelForm(least=self.floor)

    def queries(self, q: Tensor) -> Tensor:
        """Features of the direction of each query; a query of length 0 stays at 0."""
        projection = self.sigma.to(q) * self.projection.to(q)
        angles = functional.normalize(q, dim=-1) @ projection.mT
        return torch.cat([angles.sin(), angles.cos()], dim=-1) / math.sqrt(projection.shape[-2])

    def keys(self, k: Tensor, seen: Tensor | None) -> Tensor:  # noqa: ARG002
        """Same as for queries."""
        return self.queries(k)

    def divisor(self, total: Tensor) -> Tensor:
        """The sum of the weights, kept away from 0."""
        return total.clamp(min=self.floor)
