"""What the middle blocks work on: fewer tokens, made from all of them, whose change is brought back to all.

`pyramid` merges 2x2 tokens by linear layers, as in U-shaped transformers (Swin, arXiv 2103.14030; U-DiT, 2405.02730;
HDiT, 2401.11605), `pooled` takes their means. `selected` is a mixture of depths (arXiv 2404.02258).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from mezzotint.families.architectures.feed_forwards import Grid
from mezzotint.families.architectures.skips import Unit
from mezzotint.families.architectures.table import Pyramid, Tokens

Run: TypeAlias = Callable[[Tensor, Grid | None], Tensor]

_SIDE = 2  # tokens that become one, along each side
_KEPT = 0.5  # share of the tokens that are selected


class Detour(Protocol):
    """Runs the middle blocks on fewer tokens."""

    def __call__(self, hidden: Tensor, grid: Grid, run: Run) -> Tensor:
        """Return tokens `(b, n, d)` that the blocks have changed."""


def through(detour: Detour, units: Sequence[Unit]) -> list[Unit]:
    """Units of which the middle ones take a detour as one: all but the first and the last third."""
    third = len(units) // 3
    middle = units[third : len(units) - third]

    def unit(hidden: Tensor, *, grid: Grid, **conditions: Any) -> Tensor:  # noqa: ANN401
        def run(tokens: Tensor, layout: Grid | None) -> Tensor:
            for each in middle:
                tokens = each(tokens, grid=layout, **conditions)
            return tokens

        return detour(hidden, grid, run)

    return [*units[:third], unit, *units[len(units) - third :]]


class MergedTokens(nn.Module):
    """2x2 tokens become one by a linear layer, and what blocks add to it becomes four by another.

    The layers begin as a mean and as copies.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        many = _SIDE * _SIDE
        self.merge, self.expand = nn.Linear(many * width, width), nn.Linear(width, many * width)
        copies = torch.eye(width).repeat(many, 1)
        with torch.no_grad():
            self.merge.weight.copy_(copies.T / many)
            self.expand.weight.copy_(copies)
        for layer in (self.merge, self.expand):
            nn.init.zeros_(layer.bias)

    def forward(self, hidden: Tensor, grid: Grid, run: Run) -> Tensor:
        """Return tokens `(b, n, d)`."""
        tiles, coarse = _tiles(hidden, grid)
        merged = self.merge(tiles)
        return hidden + _untiled(self.expand(run(merged, coarse) - merged), grid)


class PooledTokens(nn.Module):
    """The mean of 2x2 tokens, to each of which what blocks add to it is added."""

    def __init__(self, _: int) -> None:
        super().__init__()

    def forward(self, hidden: Tensor, grid: Grid, run: Run) -> Tensor:
        """Return tokens `(b, n, d)`."""
        tiles, coarse = _tiles(hidden, grid)
        pooled = torch.unflatten(tiles, 2, (_SIDE * _SIDE, -1)).mean(dim=2)
        added = run(pooled, coarse) - pooled
        return hidden + _untiled(added.repeat(1, 1, _SIDE * _SIDE), grid)


class SelectedTokens(nn.Module):
    """Half of the tokens, those with the highest scores; the others pass by the blocks.

    What blocks add is scaled by a function of the score, so that scores are learnt.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, hidden: Tensor, grid: Grid, run: Run) -> Tensor:  # noqa: ARG002  selected tokens have no grid
        """Return tokens `(b, n, d)`."""
        scores = self.score(hidden)
        places = self.selected(scores.squeeze(2)).unsqueeze(2)
        across = places.expand(-1, -1, hidden.shape[2])
        tokens = hidden.gather(1, across)
        added = (run(tokens, None) - tokens) * (2 * scores.gather(1, places).sigmoid())
        return hidden.scatter_add(1, across, added.to(hidden.dtype))

    @staticmethod
    def selected(scores: Tensor) -> Tensor:
        """Ascending places `(b, k)` of the k highest of scores `(b, n)`; of equal ones the first."""
        count = math.ceil(scores.shape[1] * _KEPT)
        return scores.argsort(dim=1, descending=True, stable=True)[:, :count].sort(dim=1).values


def _tiles(tokens: Tensor, grid: Grid) -> tuple[Tensor, Grid]:
    """2x2 tokens side by side `(b, m, 4 d)`, and their grid; the last row and column are repeated to even numbers."""
    image = torch.unflatten(tokens, 1, grid)
    rows, columns = (-(-side // _SIDE) for side in grid)
    if (rows * _SIDE, columns * _SIDE) != grid:
        beyond = (0, columns * _SIDE - grid[1], 0, rows * _SIDE - grid[0])
        image = functional.pad(image.movedim(3, 1), beyond, mode="replicate").movedim(1, 3)
    tiles = torch.unflatten(torch.unflatten(image, 2, (columns, _SIDE)), 1, (rows, _SIDE))
    return tiles.transpose(2, 3).flatten(3).flatten(1, 2), (rows, columns)


def _untiled(tiles: Tensor, grid: Grid) -> Tensor:
    """Tokens `(b, n, d)` from tiles `(b, m, 4 d)` of a grid of that size."""
    rows, columns = (-(-side // _SIDE) for side in grid)
    image = torch.unflatten(torch.unflatten(tiles, 2, (_SIDE, _SIDE, -1)), 1, (rows, columns))
    return image.transpose(2, 3).flatten(3, 4).flatten(1, 2)[:, : grid[0], : grid[1]].flatten(1, 2)


# From the width of tokens.
PYRAMIDS: Mapping[Pyramid, Callable[[int], Detour] | None] = {"none": None, "merge": MergedTokens}
TOKENS: Mapping[Tokens, Callable[[int], Detour] | None] = {
    "all": None,
    "pooled": PooledTokens,
    "selected": SelectedTokens,
}
