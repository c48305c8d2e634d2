"""Sparse self-attention: of blocks that a table names, which alone are computed."""

from abc import abstractmethod
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.functional import normalize

from mezzotint.attention.blocks.chosen import Centroids, drawn_rotations, rotated_table, routed_table, top_table
from mezzotint.attention.blocks.plain import block_attention
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.attention.session import InSession
from mezzotint.families.architectures.kind_processor import Grid, KindProcessor
from mezzotint.families.architectures.sparse_patterns import BLOCK, SMALL, Pattern, table_of

_LEAST_BLOCKS, _DENSITY = 2, 4  # of the block-sparse kind: at least two blocks, and each fourth
_MOST_BUCKETS = 256
_PULL = 1e-3  # of centroids: optimizers ignore the scale, except where they clip gradients together


class SparseProcessor(KindProcessor, InSession):
    """Attention by a table; tensors without values, of which footprints are traced, attend to everything."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of `(b, h, n, d)` to the tokens that the table shows."""
        if q.is_meta or isinstance(q, FakeTensor):
            return attention_sdpa(q, k, v)
        table = self.table(q, k)
        return block_attention(q, k, v, table) if self.session is None else self.session.attend(q, k, v, table=table)

    @abstractmethod
    def table(self, q: Tensor, k: Tensor) -> BlockTable:
        """What queries and keys `(b, h, n, d)` see of one another."""


class PatternProcessor(SparseProcessor):
    """A fixed pattern."""

    def __init__(self, pattern: Pattern, heads: int, head_dim: int, grid: Grid, number: int) -> None:
        super().__init__(heads, head_dim, grid, number)
        self._pattern = pattern

    def table(self, q: Tensor, k: Tensor) -> BlockTable:  # noqa: ARG002  of the grid alone
        """The pattern for this grid and layer."""
        return table_of(self._pattern, self.grid_of(q.shape[2]), self.number, q.device)


class BlockSparseProcessor(SparseProcessor):
    """Each block of queries sees a fourth of the blocks of keys: those of the highest pooled scores."""

    def table(self, q: Tensor, k: Tensor) -> BlockTable:
        """The best blocks of each head."""
        blocks = -(-k.shape[2] // BLOCK)
        return top_table(q, k, max(_LEAST_BLOCKS, blocks // _DENSITY), block=BLOCK)


class LshProcessor(SparseProcessor):
    """Tokens sorted by a hash see their own chunk and the one before (Reformer, arXiv 2001.04451).

    Reformer's queries are its keys; here a token is hashed by the sum of both directions.
    """

    rotations: Tensor

    def __init__(self, heads: int, head_dim: int, grid: Grid, number: int) -> None:
        super().__init__(heads, head_dim, grid, number)
        buckets = min(2 * -(-grid[0] * grid[1] // BLOCK), _MOST_BUCKETS)
        self.register_buffer("rotations", drawn_rotations(heads, head_dim, buckets, seed=number))

    def table(self, q: Tensor, k: Tensor) -> BlockTable:
        """Chunks of tokens with similar hashes, by image and head."""
        return rotated_table(normalize(q, dim=-1) + normalize(k, dim=-1), self.rotations, chunk=BLOCK, block=BLOCK)


class RoutingProcessor(SparseProcessor):
    """Queries see the keys of their own cluster, of as many as a cluster has tokens (arXiv 2003.05997).

    Centroids are trained with everything else: their gradient, which no output has, points away from the mean of the
    nearest tokens, as in k-means.
    """

    def __init__(self, heads: int, head_dim: int, grid: Grid, number: int) -> None:
        super().__init__(heads, head_dim, grid, number)
        clusters = max(1, round(sqrt(grid[0] * grid[1])))
        self.centroids = nn.Parameter(Centroids.seeded(heads, clusters, head_dim, seed=number).means)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of `(b, h, n, d)` to the tokens of the same cluster."""
        if self.centroids.requires_grad and torch.is_grad_enabled() and q.requires_grad:
            both = torch.cat([q, k], dim=2).detach()
            q = _Pulled.apply(q, self.centroids, self._pull(both))  # type: ignore[no-untyped-call]
        return super().attend(q, k, v)

    def table(self, q: Tensor, k: Tensor) -> BlockTable:
        """Clusters of equal size, by image and head."""
        return routed_table(q, k, self._means(), block=SMALL)

    @torch.no_grad()
    def _pull(self, tokens: Tensor) -> Tensor:
        """Gradient of the centroids `(h, clusters, d)`."""
        nearest = self._means().updated(tokens, decay=0.0).means
        return (_PULL * (self.centroids - nearest)).to(self.centroids.dtype)

    def _means(self) -> Centroids:
        return Centroids(means=normalize(self.centroids.detach().float(), dim=-1))


class _Pulled(torch.autograd.Function):
    """Queries as they are; the gradient of the centroids is a given one."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, centroids: Tensor, pull: Tensor) -> Tensor:  # noqa: ANN401, ARG004  torch's names
        ctx.save_for_backward(pull)
        return q.view_as(q)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401
        (pull,) = ctx.saved_tensors
        return gradient, pull, None
