"""Tables that depend on queries and keys: the blocks with the largest pooled scores, hashed and clustered tokens."""

from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor

from mezzotint.attention.blocks.building import BLOCK, build_table, near
from mezzotint.attention.blocks.table import BlockTable


@torch.no_grad()
def top_table(q: Tensor, k: Tensor, count: int, *, block: int = BLOCK) -> BlockTable:
    """Each block of queries sees the `count` blocks of keys with the largest product of means, in each head.

    q `(b, h, nq, d)`, k `(b, h / g, nk, d)` (SpargeAttention's selection without its thresholds, arXiv 2502.18137).
    """
    means = (
        block_means(q.float(), block)
        @ block_means(k.float(), block).repeat_interleave(q.shape[1] // k.shape[1], dim=1).mT
    )
    best = means.topk(min(count, means.shape[-1]), dim=-1).indices
    candidates = torch.zeros_like(means, dtype=torch.bool).scatter_(-1, best, value=True)
    return build_table(candidates, q.shape[2], k.shape[2], block_q=block, block_k=block)


def block_means(x: Tensor, block: int) -> Tensor:
    """Means of `(b, h, n, d)` over blocks of tokens, `(b, h, blocks, d)`; the last block may have fewer."""
    blocks = -(-x.shape[2] // block)
    whole = torch.nn.functional.pad(x, (0, 0, 0, blocks * block - x.shape[2]))
    sizes = (x.shape[2] - torch.arange(blocks, device=x.device) * block).clamp(max=block)
    return whole.view(*x.shape[:2], blocks, block, x.shape[3]).sum(3) / sizes[:, None]


@torch.no_grad()
def hashed_table(x: Tensor, buckets: int, *, chunk: int = BLOCK, seed: int = 0, block: int = BLOCK) -> BlockTable:
    """Tokens sorted by hash see their own chunk and the one before (Reformer, arXiv 2001.04451).

    x `(b, h, n, d)` are queries and keys in one; their hash is argmax [x r; -x r] for a seeded random r of each head.
    """
    return rotated_table(x, drawn_rotations(x.shape[1], x.shape[3], buckets, seed), chunk=chunk, block=block)


@torch.no_grad()
def rotated_table(x: Tensor, rotations: Tensor, *, chunk: int = BLOCK, block: int = BLOCK) -> BlockTable:
    """Same for rotations r `(h, d, buckets / 2)` that are stored."""
    order = hashes(x, rotations).sort(dim=-1, stable=True).indices
    return replace(_chunks(x.shape[2], chunk, 1, block).to(x.device), q_order=order, k_order=order)


def drawn_rotations(heads: int, head_dim: int, buckets: int, seed: int) -> Tensor:
    """Random rotations of each head, `(heads, head_dim, buckets / 2)`."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(heads, head_dim, buckets // 2, generator=generator, device="cpu")


def hashes(x: Tensor, rotations: Tensor) -> Tensor:
    """Locality-sensitive hashes of `(b, h, n, d)`, `(b, h, n)` below the number of buckets."""
    rotated = torch.nn.functional.normalize(x.float(), dim=-1) @ rotations.to(x.device, torch.float32)
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)


@lru_cache(maxsize=64)
def _chunks(tokens: int, chunk: int, back: int, block: int) -> BlockTable:
    """Return the table in which a position sees its own chunk and `back` chunks before it."""
    candidates = near(torch.arange(tokens) // chunk, back, block)

    def rule(i: Tensor, j: Tensor) -> Tensor:
        return (j // chunk <= i // chunk) & (j // chunk >= i // chunk - back)

    return build_table(candidates, tokens, tokens, rule, block_q=block, block_k=block)


@dataclass(frozen=True, slots=True, kw_only=True)
class Centroids:
    """Spherical k-means of the tokens of each head, updated online (Routing Transformer, arXiv 2003.05997)."""

    means: Tensor  # (heads, clusters, d), of length 1

    @classmethod
    def seeded(cls, heads: int, clusters: int, head_dim: int, seed: int) -> "Centroids":
        """Return random centroids."""
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randn(heads, clusters, head_dim, generator=generator, device="cpu")
        return cls(means=torch.nn.functional.normalize(drawn, dim=-1))

    def affinities(self, x: Tensor) -> Tensor:
        """Cosines of `(b, h, n, d)` with the centroids, `(b, h, n, clusters)`."""
        return torch.nn.functional.normalize(x.float(), dim=-1) @ self.means.mT

    @torch.no_grad()
    def updated(self, x: Tensor, decay: float = 0.999) -> "Centroids":
        """Return the centroids moved towards the tokens `(b, h, n, d)` that are nearest to them."""
        unit = torch.nn.functional.normalize(x.float(), dim=-1)
        nearest = torch.nn.functional.one_hot(self.affinities(x).argmax(-1), self.means.shape[1]).float()
        sums = torch.einsum("bhnc,bhnd->hcd", nearest, unit)
        found = nearest.sum((0, 2))[..., None] > 0
        moved = decay * self.means + (1 - decay) * torch.nn.functional.normalize(sums, dim=-1)
        return Centroids(means=torch.nn.functional.normalize(self.means.where(~found, moved), dim=-1))


@torch.no_grad()
def routed_table(q: Tensor, k: Tensor, centroids: Centroids, *, block: int = BLOCK) -> BlockTable:
    """Queries see the keys of their own cluster; q and k `(b, h, n, d)`, of the same sizes.

    Clusters are of equal size: each in turn takes the tokens nearest to it of those left.
    """
    tokens, size = q.shape[2], -(-q.shape[2] // centroids.means.shape[1])
    q_order, k_order = (balanced_order(centroids.affinities(each), size) for each in (q, k))
    return replace(_chunks(tokens, size, 0, block).to(q.device), q_order=q_order, k_order=k_order)


def balanced_order(affinities: Tensor, size: int) -> Tensor:
    """Tokens cluster by cluster, `(b, h, n)`, from affinities `(b, h, n, clusters)`: `size` of each, ascending."""
    left, taken = affinities.clone(), []
    for cluster in range(affinities.shape[3]):
        count = min(size, affinities.shape[2] - cluster * size)
        if count <= 0:
            break
        members = left[..., cluster].topk(count, dim=-1).indices.sort(dim=-1).values
        left.scatter_(2, members[..., None].expand(-1, -1, -1, left.shape[3]), -torch.inf)
        taken.append(members)
    return torch.cat(taken, dim=-1)
