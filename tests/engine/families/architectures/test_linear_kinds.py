"""Linear kinds attend by what they store, and do as much work as their formulas say."""

import pytest
import torch

from mezzotint.attention.linear.features import PositiveRandom, RandomFourier
from mezzotint.attention.linear.reference import linear_reference
from mezzotint.attention.reference import attention_reference
from mezzotint.families.architectures.attention_kinds import KINDS
from mezzotint.memory.footprints.live_memory import counted

HEADS, HEAD_DIM = 2, 8
WIDTH = HEADS * HEAD_DIM


def tensors(tokens):
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(1, HEADS, tokens, HEAD_DIM, generator=generator) for _ in range(3)]


def processor_of(kind, grid=(16, 16), number=0):
    return KINDS[kind](HEADS, HEAD_DIM, grid, number)


FORMULAS = {  # FLOPs of one token; the sums have a column more, for the divisor
    "efficient": 4 * HEAD_DIM * (WIDTH + HEADS),
    "linear": 4 * HEAD_DIM * (WIDTH + HEADS),
    "relu": 4 * HEAD_DIM * (WIDTH + HEADS),
    "performer": 4 * 24 * (WIDTH + HEADS) + 4 * 24 * WIDTH,  # 8 ln 8 features, of multiples of 8
    "rfa": 4 * 16 * (WIDTH + HEADS) + 4 * 8 * WIDTH,
    "linformer": 8 * 64 * WIDTH,
}


@pytest.mark.parametrize("kind", FORMULAS)
def test_work_is_that_of_the_formula(kind):
    """For the grid that it is made for and another one."""
    processor = processor_of(kind)
    for grid in ((16, 16), (32, 16)):
        processor.grid, given = grid, tensors(grid[0] * grid[1])
        with counted() as work:
            processor.attend(*given)
        assert work.operations == FORMULAS[kind] * grid[0] * grid[1]


def test_what_is_stored_makes_the_features():
    q, k, v = tensors(40)
    performer, rfa = processor_of("performer"), processor_of("rfa")
    with torch.no_grad():
        rfa.sigma.copy_(torch.linspace(0.5, 1.5, 16).view(HEADS, 1, HEAD_DIM))
    for processor, features in (
        (performer, PositiveRandom(performer.projection, HEAD_DIM**-0.5)),
        (rfa, RandomFourier(rfa.projection, rfa.sigma)),
    ):
        wanted = linear_reference(q, k, v, features).float()
        torch.testing.assert_close(processor.attend(q, k, v), wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("grid", [(8, 8), (6, 10)])
def test_linformer_begins_with_means_of_areas(grid):
    processor, (q, k, v) = processor_of("linformer", grid), tensors(grid[0] * grid[1])
    few = [each.unflatten(2, (grid[0] // 2, 2, grid[1] // 2, 2)).mean((3, 5)).flatten(2, 3) for each in (k, v)]
    torch.testing.assert_close(processor.attend(q, k, v), attention_reference(q, *few)[0])


def test_linformer_takes_other_grids():
    """Keys and values that are the same everywhere stay what they are."""
    processor = processor_of("linformer", (8, 8))
    for grid in ((8, 12), (16, 16), (4, 6)):
        processor.grid = grid
        q, *_ = tensors(grid[0] * grid[1])
        v = torch.full_like(q, 3.0)
        torch.testing.assert_close(processor.attend(q, v, v), v)


def test_linformer_projects_to_no_more_than_256():
    assert processor_of("linformer", (64, 40)).of_keys.shape == (256, 2560)
    assert processor_of("linformer", (1, 3)).of_keys.shape == (1, 3)
