"""Self-attention in linear time: kernelized, or of projected keys and values."""

import math
from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool1d, interpolate

from mezzotint.attention.linear.features import FeatureMap, PositiveRandom, RandomFourier
from mezzotint.attention.linear.linformer import linformer_attention
from mezzotint.attention.linear.operation import linear_attention
from mezzotint.attention.linear.projections import orthogonal_projections
from mezzotint.families.architectures.kind_processor import Grid, KindProcessor

_MULTIPLE = 8  # of random features
_MOST_ROWS = 16  # of the grid that Linformer projects to, and columns


class KernelizedProcessor(KindProcessor):
    """Attention by a feature map."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of `(b, h, n, d)` by the features' products."""
        return linear_attention(q, k, v, self.features())

    @abstractmethod
    def features(self) -> FeatureMap:
        """The feature map."""


class MappedProcessor(KernelizedProcessor):
    """A feature map without anything stored."""

    def __init__(self, features: FeatureMap, heads: int, head_dim: int, grid: Grid, number: int) -> None:
        super().__init__(heads, head_dim, grid, number)
        self._features = features

    def features(self) -> FeatureMap:
        """The feature map."""
        return self._features


class PerformerProcessor(KernelizedProcessor):
    """Positive random features, about d ln d of them, which estimate dense attention."""

    projection: Tensor

    def __init__(self, heads: int, head_dim: int, grid: Grid, number: int) -> None:
        super().__init__(heads, head_dim, grid, number)
        wanted = head_dim * math.log(max(head_dim, 2))
        features = _MULTIPLE * math.ceil(wanted / _MULTIPLE)
        self.register_buffer("projection", orthogonal_projections(1, features, head_dim, seed=number))

    def features(self) -> FeatureMap:
        """The feature map."""
        return PositiveRandom(self.projection, self.head_dim**-0.5)


class RfaProcessor(KernelizedProcessor):
    """Random Fourier features, d sines and d cosines, with widths that each head learns."""

    projection: Tensor

    def __init__(self, heads: int, head_dim: int, grid: Grid, number: int) -> None:
        super().__init__(heads, head_dim, grid, number)
        self.register_buffer("projection", orthogonal_projections(1, head_dim, head_dim, seed=number))
        self.sigma = nn.Parameter(torch.ones(heads, 1, head_dim))

    def features(self) -> FeatureMap:
        """The feature map."""
        return RandomFourier(self.projection, self.sigma)


class LinformerProcessor(KindProcessor):
    """Keys and values are projected from the grid to a coarser one, at first to means of areas.

    For another grid than the one that the network is made for, the projections are resampled.
    """

    def __init__(self, heads: int, head_dim: int, grid: Grid, number: int) -> None:
        super().__init__(heads, head_dim, grid, number)
        rows, columns = (_means(side) for side in grid)
        self.of_keys = nn.Parameter(torch.kron(rows, columns))
        self.of_values = nn.Parameter(torch.kron(rows, columns))

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of `(b, h, n, d)` to what the projections make of the tokens."""
        of_keys, of_values = (self._resampled(each, k.shape[2]) for each in (self.of_keys, self.of_values))
        return linformer_attention(q, k, v, of_keys, of_values)

    def _resampled(self, projection: Tensor, tokens: int) -> Tensor:
        """Weights `(1, m, n)` of a grid of tokens from those `(m, n)` of the native one, of about the same sums."""
        grid = self.grid_of(tokens)
        if grid == self.native:
            return projection[None]
        image = torch.unflatten(projection, 1, self.native)[None]
        resampled = interpolate(image, size=grid, mode="bilinear", align_corners=False).flatten(2)
        return resampled * (projection.shape[1] / tokens)


def _means(side: int) -> Tensor:
    """Means over parts of a side, about two tokens each, `(parts, side)`."""
    parts = min(max(side // 2, 1), _MOST_ROWS)
    return adaptive_avg_pool1d(torch.eye(side), parts).T
