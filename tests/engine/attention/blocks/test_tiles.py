"""Tiles of an image see as many others as asked for, and all of the text."""

import math

import pytest
import torch

from mezzotint.attention.blocks.grids import Grid, window_table
from mezzotint.attention.blocks.table import PARTIAL
from mezzotint.attention.blocks.tiles import best_tiles, tile_means, tile_table, tiles_of, window_sides, window_tiles

CPU = torch.device("cpu")
GRIDS = {
    "whole tiles": Grid(height=16, width=32),
    "ragged": Grid(height=19, width=22),
    "text before": Grid(height=16, width=24, text_before=70),
    "text after": Grid(height=17, width=24, text_after=7),
    "text on both sides": Grid(height=10, width=17, text_before=19, text_after=64),
}


@pytest.fixture(params=GRIDS)
def grid(request):
    return GRIDS[request.param]


def tensors(grid, heads=2, kv_heads=2):
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(2, each, grid.tokens, 16, generator=generator) for each in (heads, kv_heads)]


def tile_of(grid):
    """The number of each token's tile, -1 of the text's."""
    token = torch.arange(grid.tokens)
    row, column = grid.place(token)
    return (row // 8 * -(-grid.width // 8) + column // 8).masked_fill(grid.text(token), -1)


def means_by_definition(x, grid):
    number = tile_of(grid)
    return torch.stack([x[:, :, number == tile].mean(2) for tile in range(int(number.max()) + 1)], dim=2)


def test_means_are_those_of_the_tokens(grid):
    q, _ = tensors(grid)
    torch.testing.assert_close(tile_means(q, tiles_of(grid, CPU)), means_by_definition(q, grid))


def test_each_tile_sees_its_own_and_the_best_others(grid):
    q, k = tensors(grid, 4, 2)
    tiles = tiles_of(grid, CPU)
    scores = means_by_definition(q, grid) @ means_by_definition(k, grid).repeat_interleave(2, 1).mT
    seen = best_tiles(q, k, tiles, 3)
    assert seen.shape == (2, 4, tiles.count, 3) and (seen.diff(dim=-1) > 0).all()
    for batch, head, tile in ((0, 0, 0), (1, 3, tiles.count - 1)):
        row = scores[batch, head, tile]
        row[tile] = math.inf
        assert set(seen[batch, head, tile].tolist()) == set(row.topk(3).indices.tolist())


def by_definition(grid, seen):
    """The mask of tokens `(b, h, n, n)` of which tiles see which; text sees and is seen by all."""
    number = tile_of(grid)
    tiles = torch.zeros(*seen.shape[:3], seen.shape[2], dtype=torch.bool).scatter_(3, seen, value=True)
    at = number.clamp(min=0)
    text = number < 0
    return tiles[:, :, at][..., at] | text[:, None] | text


def test_the_table_shows_these_tiles_and_all_text(grid):
    q, k = tensors(grid)
    tiles = tiles_of(grid, CPU)
    seen = best_tiles(q, k, tiles, 2)
    table = tile_table(tiles, seen)
    assert torch.equal(table.seen(), by_definition(grid, seen))
    lengths = table.row_ptr.diff()
    assert (lengths[: table.rows].diff() <= 0).all()  # the longest rows first
    assert all((row.diff() > 0).all() for row in (table.col & ~PARTIAL).split(lengths.tolist()))
    assert not table.pooled and tile_table(tiles, seen, pooled=True).pooled


def test_hidden_keys_are_hidden_in_each_batch(grid):
    q, k = tensors(grid)
    tiles, shown = tiles_of(grid, CPU), torch.ones(2, grid.tokens, dtype=torch.bool)
    shown[1, grid.text(torch.arange(grid.tokens))] = torch.arange(grid.text_before + grid.text_after) % 3 > 0
    seen = best_tiles(q, k, tiles, 2)
    assert torch.equal(tile_table(tiles, seen, shown).seen(), by_definition(grid, seen) & shown[:, None, None])
    window = window_tiles(tiles, 2)
    both = by_definition(grid, window).expand(2, -1, -1, -1) & shown[:, None, None]
    assert torch.equal(tile_table(tiles, window, shown).seen(), both)
    one = tile_table(tiles, seen, shown[1:])  # the same for all
    assert torch.equal(one.seen(), by_definition(grid, seen) & shown[1])


def test_windows_are_those_of_window_table():
    grid = Grid(height=40, width=48, text_before=9)
    table = tile_table(tiles_of(grid, CPU), window_tiles(tiles_of(grid, CPU), 9))
    assert torch.equal(table.seen(), window_table(grid, 3).seen())
    assert (table.batch, table.heads) == (1, 1)


@pytest.mark.parametrize(
    ("height", "width", "count", "sides"),
    [(64, 64, 16, (4, 4)), (64, 64, 1, (1, 1)), (16, 256, 16, (2, 8)), (256, 16, 16, (8, 2)), (64, 64, 64, (8, 8))],
)
def test_windows_are_as_square_as_fits(height, width, count, sides):
    assert window_sides(tiles_of(Grid(height=height, width=width), CPU), count) == sides


def test_whole_blocks_have_no_bits_to_look_at():
    tiles = tiles_of(Grid(height=16, width=32, text_before=128), CPU)
    table = tile_table(tiles, window_tiles(tiles, 3))
    assert not (table.col & PARTIAL).any() and table.density < 1
