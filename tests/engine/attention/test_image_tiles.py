"""Attention in tiles of an image, against dense attention with the mask by definition."""

import pytest
import torch
from fake_kernels import FakeKernels

from mezzotint.attention import image_tiles
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.image_tiles import attend_in_tiles
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reduction import Grid
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.session import AttentionSession
from mezzotint.attention.sparse import attend_sparsely

GRIDS = {
    "alone": Grid(start=0, height=16, width=24),
    "ragged": Grid(start=0, height=17, width=19),
    "text before": Grid(start=5, height=16, width=16),
    "text on both sides": Grid(start=5, height=19, width=16),
}
AFTER = {"text on both sides": 6}


@pytest.fixture(params=GRIDS)
def name(request):
    return request.param


def session_of(chosen="sdpa", kernels=None):
    return AttentionSession(asked="auto", chosen=chosen, kernels=kernels, tell=lambda *_: None)


def tensors(tokens, kv_heads=2, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(3, tokens, heads, 8, generator=generator).to(dtype).mT.mT.transpose(1, 2)
            for heads in (4, kv_heads, kv_heads)]  # fmt: skip


def seen(grid, tokens, counts, *, shifted):
    """Which keys each query sees, by definition."""
    place = torch.arange(tokens) - grid.start
    outside = (place < 0) | (place >= grid.height * grid.width)
    tiles = []
    for along, length, count in zip((place // grid.width, place % grid.width), (grid.height, grid.width), counts,
                                    strict=True):  # fmt: skip
        begins = [length * index // count for index in range(count + 1)]
        if shifted and count > 1:
            begins = [0, *(begins[index] + (begins[index + 1] - begins[index]) // 2 for index in range(count))]
        else:
            begins = begins[:-1]
        tiles.append(sum((along >= begin).int() for begin in begins))
    same = (tiles[0][:, None] == tiles[0]) & (tiles[1][:, None] == tiles[1])
    return same | outside[:, None] | outside


def attended(grid, counts, shifted, *, masks=NO_MASKS, after=0, session=None, **how):
    q, k, v = tensors(grid.stop + after, **how)
    attend = (session or session_of())._attend
    return attend_in_tiles(attend, q, k, v, masks, None, grid=grid, counts=counts, shifted=shifted)


def expected(grid, counts, shifted, after=0, shown=None, **how):
    q, k, v = tensors(grid.stop + after, **how)
    visible = seen(grid, grid.stop + after, counts, shifted=shifted)[None, None]
    visible = visible if shown is None else visible & shown[:, None, None]
    bias = torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)
    return attention_reference(q, k, v, Masks(bias=bias))[0]


@pytest.mark.parametrize("shifted", [False, True])
@pytest.mark.parametrize("counts", [(2, 2), (1, 2), (2, 1)])
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_it_is_dense_attention_inside_the_tiles(name, counts, shifted, kv_heads):
    grid, after = GRIDS[name], AFTER.get(name, 0)
    found = attended(grid, counts, shifted, after=after, kv_heads=kv_heads)
    torch.testing.assert_close(found, expected(grid, counts, shifted, after, kv_heads=kv_heads))


def test_an_edge_that_is_off_by_one_is_noticed(monkeypatch):
    edges, grid = image_tiles._edges, GRIDS["ragged"]
    monkeypatch.setattr(
        image_tiles, "_edges", lambda *sides, shifted: [0, *(each - 1 for each in edges(*sides, shifted=shifted)[1:-1]),
                                                        edges(*sides, shifted=shifted)[-1]]
    )  # fmt: skip
    image_tiles._tiles_by_shape.cache_clear()
    found = attended(grid, (2, 2), False)
    image_tiles._tiles_by_shape.cache_clear()
    with pytest.raises(AssertionError):
        torch.testing.assert_close(found, expected(grid, (2, 2), False))


def test_one_tile_is_dense_attention_to_the_bit(name):
    grid = GRIDS[name]
    q, k, v = tensors(grid.stop)
    dense = session_of().attend(q, k, v)
    assert torch.equal(attend_sparsely(session_of()._attend, q, k, v, NO_MASKS, None, grid=grid, how=("tiles", 0.6)),
                       dense)  # fmt: skip
    if grid.start == 0:
        assert torch.equal(attended(grid, (1, 1), True), dense)


@pytest.mark.parametrize("masked", ["lengths", "mask"])
def test_hidden_text_stays_hidden(masked):
    grid = GRIDS["text on both sides"]
    tokens = grid.stop + 6
    lengths = torch.tensor([tokens, tokens - 4, tokens - 1], dtype=torch.int32)
    shown = torch.arange(tokens) < lengths[:, None]
    masks = Masks(key_lengths=lengths) if masked == "lengths" else Masks(key_mask=shown)
    found = attended(grid, (2, 2), True, masks=masks, after=6)
    torch.testing.assert_close(found, expected(grid, (2, 2), True, 6, shown))


@pytest.mark.parametrize("chosen", ["flash", "int8"])
def test_the_kernels_run_it(chosen):
    kernels = FakeKernels()
    how = {"dtype": torch.bfloat16, "after": 6}
    grid = GRIDS["text on both sides"]
    found = attended(grid, (2, 2), True, session=session_of(chosen, CompiledAttention(kernels)), **how)
    shapes = 3 * 2  # of 4, 9 or 10 and 5 or 6 rows, and 4 or 8 columns
    assert len(kernels.launches) == shapes + 2  # and the text before and after
    torch.testing.assert_close(found, attended(grid, (2, 2), True, **how), rtol=0.03, atol=0.03)
