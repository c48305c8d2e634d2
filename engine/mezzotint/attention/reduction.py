"""Fewer tokens in self-attention over an image: ToDo (arXiv 2402.13573) and ToMe (arXiv 2303.17604).

Both are applied after projection, norm and rotary embedding. Text tokens beside those of the image are kept.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import normalize

from mezzotint.attention.masks import NO_MASKS, Masks, visible_keys
from mezzotint.attention.session import Attend

_CELL = 2  # side of the cells of which ToMe keeps one token each
_ROWS = 1024  # rows of the similarity matrix at a time, so that it takes less memory than the network's activations
_SEED = 0  # of the tokens that are kept: the same in every step, so that an image can be repeated


@dataclass(frozen=True, slots=True)
class Grid:
    """Where an image's tokens are in a sequence: `height` rows of `width` tokens from `start`."""

    start: int
    height: int
    width: int

    @property
    def stop(self) -> int:
        """Index after the last token."""
        return self.start + self.height * self.width


def attend_downsampled(
    attend: Attend, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float | None, *, grid: Grid, ratio: float
) -> Tensor:
    """Attention of all queries to a subsampled grid of keys and values (ToDo), `ratio` of which are left out."""
    if masks.causal:
        return attend(q, k, v, masks, scale)
    kept = kept_keys(grid, k.shape[2], ratio, k.device)
    return attend(q, k.index_select(2, kept), v.index_select(2, kept), _masks_of(masks, kept, k.shape[2]), scale)


@lru_cache(maxsize=16)
def kept_keys(grid: Grid, tokens: int, ratio: float, device: torch.device) -> Tensor:
    """Indices of the keys that ToDo keeps: the nearest token of each point of a coarser grid, and all other tokens."""
    rows, columns = (_nearest(side, (1 - ratio) ** 0.5) for side in (grid.height, grid.width))
    inside = grid.start + (rows[:, None] * grid.width + columns).flatten()
    every = torch.arange(tokens)
    return torch.cat([every[: grid.start], inside, every[grid.stop :]]).to(device)


def _nearest(side: int, share: float) -> Tensor:
    """Indices along a side at `share` of its length, rounded, as by nearest-neighbour interpolation."""
    count = max(1, round(side * share))
    return torch.arange(count) * side // count


def _masks_of(masks: Masks, kept: Tensor, tokens: int) -> Masks:
    """The masks and bias of the keys that are kept."""
    if masks is NO_MASKS:
        return masks
    visible, bias = visible_keys(masks, tokens), masks.bias
    return Masks(
        bias=bias if bias is None or bias.shape[-1] == 1 else bias.index_select(3, kept),
        key_mask=None if visible is None else visible[:, 0, 0].index_select(1, kept),
    )


def attend_merged(
    attend: Attend, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float | None, *, grid: Grid, ratio: float
) -> Tensor:
    """Attention over tokens of which the most similar `ratio` are merged first, and separated afterwards (ToMe)."""
    if masks.causal or masks.bias is not None:
        return attend(q, k, v, masks, scale)
    matching = match(k, grid, ratio)
    q, k, v, masks = *map(matching.merge, (q, k, v)), _merged_masks(masks, matching, k.shape[2])
    return matching.unmerge(attend(q, k, v, masks, scale))


@dataclass(frozen=True, slots=True)
class Matching:
    """A bipartite matching of an image's tokens: of those in `source` the first `count` merge into their `target`."""

    grid: Grid
    source: Tensor  # (b, s): tokens by similarity to their target, the most similar first
    target: Tensor  # (b, count): positions in `kept`
    kept: Tensor  # (t,): the tokens that may be merged into
    count: int

    def merge(self, tokens: Tensor) -> Tensor:
        """Replace the grid's tokens in `(b, h, n, d)` by the unmerged sources and the targets' means."""
        before, image, after = _parts(tokens, self.grid)
        sources = image.gather(2, _spread(self.source, image))
        targets = _means(image.index_select(2, self.kept), sources[:, :, : self.count], self.target)
        return torch.cat([before, sources[:, :, self.count :], targets, after], dim=2)

    def unmerge(self, tokens: Tensor) -> Tensor:
        """Give each of the grid's tokens the result of the one that it was merged into."""
        single = self.source.shape[1] - self.count
        start = self.grid.start
        before, alone = tokens[:, :, :start], tokens[:, :, start : start + single]
        targets = tokens[:, :, start + single :][:, :, : self.kept.shape[0]]
        after = tokens[:, :, start + single + self.kept.shape[0] :]
        image = tokens.new_empty(*tokens.shape[:2], self.grid.stop - start, tokens.shape[3])
        sources = torch.cat([targets.gather(2, _spread(self.target, tokens)), alone], dim=2)
        image.scatter_(2, _spread(self.source, tokens), sources)
        image.index_copy_(2, self.kept, targets)
        return torch.cat([before, image, after], dim=2)


def match(k: Tensor, grid: Grid, ratio: float) -> Matching:
    """Match the grid's tokens by the cosine of their keys `(b, h, n, d)`, averaged over heads (arXiv 2210.09461)."""
    kept, others = bipartition(grid, k.device)
    keys = normalize(_at_least_32_bits(k[:, :, grid.start : grid.stop]).mean(dim=1), dim=2)
    targets = keys[:, kept].transpose(1, 2)
    best = [part.matmul(targets).max(dim=2) for part in torch.split(keys[:, others], _ROWS, dim=1)]
    similarity, nearest = (torch.cat(each, dim=1) for each in zip(*best, strict=True))
    order = similarity.argsort(dim=1, descending=True, stable=True)
    count = min(others.shape[0], int((grid.stop - grid.start) * ratio))
    return Matching(grid, others[order], nearest.gather(1, order[:, :count]), kept, count)


@lru_cache(maxsize=16)
def bipartition(grid: Grid, device: torch.device) -> tuple[Tensor, Tensor]:
    """The tokens that are merged into, a random one of each 2x2 cell, and all others; sorted, counted from `start`."""
    rows, columns = grid.height // _CELL, grid.width // _CELL
    generator = torch.Generator().manual_seed(_SEED)
    chosen = torch.randint(_CELL * _CELL, (rows, columns), generator=generator)
    row = torch.arange(rows)[:, None] * _CELL + chosen // _CELL
    column = torch.arange(columns) * _CELL + chosen % _CELL
    is_kept = torch.zeros(grid.height, grid.width, dtype=torch.bool)
    is_kept[row, column] = True
    return is_kept.flatten().nonzero()[:, 0].to(device), (~is_kept).flatten().nonzero()[:, 0].to(device)


def _parts(tokens: Tensor, grid: Grid) -> tuple[Tensor, Tensor, Tensor]:
    return tokens[:, :, : grid.start], tokens[:, :, grid.start : grid.stop], tokens[:, :, grid.stop :]


def _means(targets: Tensor, sources: Tensor, target: Tensor) -> Tensor:
    """The mean of each target `(b, h, t, d)` and the sources that it takes; sums of 16 bits are exact in any order."""
    sums = _at_least_32_bits(targets)
    sums = sums.scatter_add(2, _spread(target, sources), _at_least_32_bits(sources))
    counts = torch.ones_like(sums[:, 0, :, 0]).scatter_add(1, target, sums.new_ones(target.shape))
    return (sums / counts[:, None, :, None]).to(targets.dtype)


def _at_least_32_bits(tokens: Tensor) -> Tensor:
    """The tokens in at least 32 bits."""
    return tokens.to(torch.promote_types(tokens.dtype, torch.float32))


def _spread(index: Tensor, like: Tensor) -> Tensor:
    """Expand indices `(b, n)` to the heads and channels of `(b, h, m, d)`."""
    return index[:, None, :, None].expand(-1, like.shape[1], -1, like.shape[3])


def _merged_masks(masks: Masks, matching: Matching, tokens: int) -> Masks:
    """Masks after merging; an image's tokens are never masked."""
    visible = visible_keys(masks, tokens)
    if visible is None:
        return NO_MASKS
    seen, grid = visible[:, 0, 0], matching.grid
    image = seen[:, grid.start : grid.stop - matching.count]
    return Masks(key_mask=torch.cat([seen[:, : grid.start], image, seen[:, grid.stop :]], dim=1))
