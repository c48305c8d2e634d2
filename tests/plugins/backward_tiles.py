"""Attention's backward pass tile by tile in plain torch: the order of work of kernels/csrc/attention/backward."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

_ROUNDS = 7
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropout:
    """Dropout of softmax weights by Philox (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011).

    A weight is kept if its random byte is below `kept`, and then divided by kept / 256. What is drawn depends on the
    place of a block of 16 queries by 32 keys and not on tiles, so passes may differ in these: dropout.h explains how.
    """

    kept: int  # of 256
    seed: int
    offset: int = 0

    @property
    def factor(self) -> float:
        """What kept weights are multiplied by."""
        return 256 / self.kept

    def weights(self, batch: int, heads: int, nq: int, nk: int) -> Tensor:
        """Factors of the weights `(batch, heads, nq, nk)` in float64: 0 where a weight is dropped."""
        return torch.tensor(_bytes(self, batch, heads, nq, nk) < self.kept, dtype=torch.float64) * self.factor


def _bytes(dropout: Dropout, batch: int, heads: int, nq: int, nk: int) -> np.ndarray:
    """The random byte of each weight."""
    b, h, q, k = np.ogrid[:batch, :heads, :nq, :nk]
    call = q % 8 // 2 * 8 + k // 16 % 2 * 4 + k % 8 // 2
    which = (q % 2 * 2 + k % 2) * 4 + q // 8 % 2 * 2 + k // 8 % 2  # of the call's 16 bytes
    counter = dropout.offset + 32 * (b * heads + h) + call
    words = philox((counter & 0xFFFFFFFF, counter >> 32, q // 16 + 0 * counter, k // 32 + 0 * counter), dropout.seed)
    chosen = np.choose(np.broadcast_to(which // 4, words[0].shape), words)
    return (chosen >> (which % 4 * 8).astype(np.uint64)) & np.uint64(255)


def philox(counter: tuple[np.ndarray, ...], key: int) -> list[np.ndarray]:
    """Philox4x32-7: four random words of 32 bits for each counter of four words."""
    x = [np.asarray(each, dtype=np.uint64) for each in np.broadcast_arrays(*counter)]
    keys = [key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF]
    for _ in range(_ROUNDS):
        first, second = (x[2 * i] * np.uint64(_MULTIPLIERS[i]) for i in range(2))
        high, low = (each >> np.uint64(32) for each in (first, second)), (first & _LOW, second & _LOW)
        high_first, high_second = high
        x = [high_second ^ x[1] ^ np.uint64(keys[0]), low[1], high_first ^ x[3] ^ np.uint64(keys[1]), low[0]]
        keys = [(each + step) & 0xFFFFFFFF for each, step in zip(keys, _WEYL, strict=True)]
    return x


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """How the work is divided: queries and keys of a tile, and sums of dq that are added at the end."""

    queries: int = 64
    keys: int = 64
    splits: int = 1


def gradients_by_tiles(
    gradient: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    *,
    hidden: Tensor,
    scale: float,
    lse_gradient: Tensor | None = None,
    dropout: Tensor | None = None,
    tiles: Tiles = Tiles(),
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)` (arXiv 2205.14135, algorithm 4; 2307.08691, 2).

    `hidden` `(b, h, nq, nk)` of bool says which keys a query does not see, `dropout` is `Dropout.weights`. Nothing of
    size nq x nk is kept: weights are computed again from `lse`, -inf for a query that sees nothing.
    """
    delta = (gradient * out).sum(dim=-1)
    if lse_gradient is not None:
        delta = delta - lse_gradient
    lse = lse.masked_fill(lse == -math.inf, math.inf)  # exp(score - inf) is 0
    group, blocks = q.shape[1] // k.shape[1], range(0, k.shape[2], tiles.keys)
    parts = torch.zeros(tiles.splits, *q.shape, dtype=q.dtype)
    dk, dv = torch.zeros_like(k), torch.zeros_like(v)
    for head in range(q.shape[1]):
        for number, first in enumerate(blocks):
            keys = slice(first, first + tiles.keys)
            rows = slice(head // group, head // group + 1)  # the head of keys that the group shares
            for query in range(0, q.shape[2], tiles.queries):
                at = (slice(None), slice(head, head + 1), slice(query, query + tiles.queries))
                scores = (q[at] @ k[:, rows, keys].mT) * scale
                weights = torch.exp(scores.masked_fill(hidden[at][..., keys], -math.inf) - lse[at].unsqueeze(-1))
                kept = torch.ones_like(weights) if dropout is None else dropout[at][..., keys]
                of_scores = weights * (kept * (gradient[at] @ v[:, rows, keys].mT) - delta[at].unsqueeze(-1))
                dv[:, rows, keys] += (weights * kept).mT @ gradient[at]
                dk[:, rows, keys] += of_scores.mT @ q[at] * scale
                parts[(number % tiles.splits, *at)] += of_scores @ k[:, rows, keys]
    return parts.sum(dim=0) * scale, dk, dv
