"""Windows of an image are their definitions, token by token."""

import pytest
import torch

from mezzotint.attention.blocks.grids import Grid, shifted_table, window_table
from mezzotint.attention.blocks.table import PARTIAL

GRIDS = {
    "whole tiles": Grid(height=16, width=24),
    "ragged": Grid(height=13, width=22),
    "text before": Grid(height=16, width=12, text_before=5),
    "text on both sides": Grid(height=10, width=17, text_before=19, text_after=3),
}


def by_definition(grid, sees):
    """The mask of a rule for two places; text sees and is seen by all."""

    def place(token):
        token -= grid.text_before
        return divmod(token, grid.width) if 0 <= token < grid.height * grid.width else None

    places = [place(token) for token in range(grid.tokens)]
    return torch.tensor([[a is None or b is None or sees(a, b) for b in places] for a in places])


def in_window(a, b, count, window):
    """Whether tile b is in the window of tile a on an axis of `count` tiles, all of which have full windows."""
    first = a - window // 2
    while first + window > count:
        first -= 1
    first = max(first, 0)
    return b in range(first, first + window)


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("name", GRIDS)
def test_window_is_its_definition(name, window):
    grid = GRIDS[name]
    table = window_table(grid, window, block=16)
    down, along = -(-grid.height // 4), -(-grid.width // 4)

    def sees(a, b):
        return in_window(a[0] // 4, b[0] // 4, down, window) and in_window(a[1] // 4, b[1] // 4, along, window)

    assert torch.equal(table.seen()[0, 0], by_definition(grid, sees))


def test_tiles_are_blocks_of_the_kernels():
    table = window_table(Grid(height=64, width=64), 3)
    assert table.density == 9 / 64 and not (table.col & PARTIAL).any()
    assert (table.q_order[0, 0, :64] == (torch.arange(8)[:, None] * 64 + torch.arange(8)).flatten()).all()


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(("window", "shift"), [(4, 0), (4, 2), (5, 3), (8, 4)])
@pytest.mark.parametrize("name", GRIDS)
def test_shifted_windows_are_swins(name, window, shift):
    """Swin moves the image and hides what came across its edges: what remains has the same number by both counts."""
    grid = GRIDS[name]

    def region(place):
        return tuple(next(n for n, end in enumerate(range(shift, 99, window)) if at < end) for at in place)

    table = shifted_table(grid, window, shift, block=16)
    assert torch.equal(table.seen()[0, 0], by_definition(grid, lambda a, b: region(a) == region(b)))


def test_swins_own_construction():
    """Roll, split into windows, and hide pairs from different regions, as the paper's code does."""
    size, window, shift = 16, 8, 4
    region = torch.zeros(size, size)
    slices = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
    for number, (down, along) in enumerate((a, b) for a in slices for b in slices):
        region[down, along] = number
    tokens = torch.arange(size * size).view(size, size).roll((-shift, -shift), (0, 1))

    def split(x):
        return x.view(size // window, window, size // window, window).transpose(1, 2).reshape(-1, window * window)

    mask = torch.zeros(size * size, size * size, dtype=torch.bool)
    for members, regions in zip(split(tokens), split(region), strict=True):
        mask[members[:, None], members] = regions[:, None] == regions
    assert torch.equal(shifted_table(Grid(height=size, width=size), window, shift).seen()[0, 0], mask)
