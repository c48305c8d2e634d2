"""Token reduction against explicit subsampling, and against a plain implementation of the paper's formula."""

import pytest
import torch
from torch.nn.functional import interpolate

from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reduction import (
    Grid,
    attend_downsampled,
    attend_merged,
    bipartition,
    kept_keys,
    match,
)
from mezzotint.attention.reference import attention_reference

ALONE, BESIDE_TEXT, BEFORE_TEXT = Grid(0, 6, 8), Grid(5, 6, 8), Grid(0, 4, 6)
GRIDS = {
    "alone": (ALONE, 48),
    "beside text": (BESIDE_TEXT, 58),
    "before text": (BEFORE_TEXT, 30),
    "odd": (Grid(3, 5, 7), 40),
}


def attend(q, k, v, masks, scale):
    return attention_reference(q, k, v, masks, scale)[0]


@pytest.fixture(params=GRIDS)
def case(request):
    grid, tokens = GRIDS[request.param]
    torch.manual_seed(0)
    return grid, [torch.randn(2, 3, tokens, 8, dtype=torch.float64) for _ in range(3)]


# ---- ToDo


def test_todo_keeps_every_second_row_and_column_and_all_text(case):
    grid, (_, k, _) = case
    kept = kept_keys(grid, k.shape[2], 0.75, k.device).tolist()
    places = torch.arange(grid.height * grid.width, dtype=torch.float32).view(1, 1, grid.height, grid.width)
    size = [max(1, round(side / 2)) for side in (grid.height, grid.width)]
    inside = (interpolate(places, size=size).flatten().int() + grid.start).tolist()
    assert kept == [*range(grid.start), *inside, *range(grid.stop, k.shape[2])]


def test_todo_is_attention_to_the_kept_keys(case):
    grid, (q, k, v) = case
    kept = kept_keys(grid, k.shape[2], 0.5, k.device)
    expected = attend(q, k[:, :, kept], v[:, :, kept], NO_MASKS, 0.3)
    assert torch.equal(attend_downsampled(attend, q, k, v, NO_MASKS, 0.3, grid=grid, ratio=0.5), expected)


def test_todo_selects_of_masks_and_bias_too(case):
    grid, (q, k, v) = case
    tokens = k.shape[2]
    seen, bias = torch.rand(2, tokens) > 0.3, torch.randn(2, 1, 1, tokens, dtype=torch.float64)
    seen[:, grid.start] = True
    kept = kept_keys(grid, tokens, 0.75, k.device)
    hidden = bias.masked_fill(~seen[:, None, None], -torch.inf)
    expected = attend(q, k[:, :, kept], v[:, :, kept], Masks(bias=hidden[..., kept]), None)
    made = attend_downsampled(attend, q, k, v, Masks(bias=bias, key_mask=seen), None, grid=grid, ratio=0.75)
    torch.testing.assert_close(made, expected)
    lengths = Masks(key_lengths=torch.tensor([tokens - 1, tokens], dtype=torch.int32))
    visible = torch.arange(tokens) < lengths.key_lengths[:, None]
    expected = attend_downsampled(attend, q, k, v, Masks(key_mask=visible), None, grid=grid, ratio=0.75)
    assert torch.equal(attend_downsampled(attend, q, k, v, lengths, None, grid=grid, ratio=0.75), expected)


def test_without_a_ratio_nothing_changes(case):
    grid, (q, k, v) = case
    dense = attend(q, k, v, NO_MASKS, None)
    assert torch.equal(attend_downsampled(attend, q, k, v, NO_MASKS, None, grid=grid, ratio=0.0), dense)
    torch.testing.assert_close(attend_merged(attend, q, k, v, NO_MASKS, None, grid=grid, ratio=0.0), dense)


@pytest.mark.parametrize("method", [attend_downsampled, attend_merged])
def test_causal_attention_stays_dense(method):
    q = torch.randn(1, 1, 48, 8)
    masks = Masks(causal=True)
    made = method(attend, q, q, q, masks, None, grid=ALONE, ratio=0.5)
    assert torch.equal(made, attend(q, q, q, masks, None))


# ---- ToMe


def plain_tome(q, k, v, grid, ratio):
    """Bipartite soft matching by equations and loops (arXiv 2303.17604, section 4), for each image by itself."""
    kept, others = (each.tolist() for each in bipartition(grid, k.device))
    out = []
    for i in range(q.shape[0]):
        metric = k[i, :, grid.start : grid.stop].mean(dim=0)
        metric = metric / metric.norm(dim=1, keepdim=True)
        best = {src: kept[int((metric[kept] @ metric[src]).argmax())] for src in others}
        by_similarity = sorted(others, key=lambda src: -float(metric[src] @ metric[best[src]]))
        gone = by_similarity[: int(grid.height * grid.width * ratio)]
        groups = [[dst, *(src for src in gone if best[src] == dst)] for dst in kept]
        groups += [[src] for src in others if src not in gone]
        groups = [[grid.start + member for member in group] for group in groups]
        groups += [[token] for token in (*range(grid.start), *range(grid.stop, q.shape[2]))]
        q_i, k_i, v_i = (torch.stack([each[i][:, group].mean(dim=1) for group in groups], dim=1) for each in (q, k, v))
        made = ((q_i @ k_i.transpose(1, 2)) * q.shape[3] ** -0.5).softmax(dim=2) @ v_i
        whole = torch.empty_like(q[i])
        for number, group in enumerate(groups):
            whole[:, group] = made[:, number : number + 1].expand(-1, len(group), -1)
        out.append(whole)
    return torch.stack(out)


@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.9])
def test_merging_is_the_papers_formula(case, ratio):
    grid, tensors = case
    made = attend_merged(attend, tensors[0], tensors[1], tensors[2], NO_MASKS, None, grid=grid, ratio=ratio)
    torch.testing.assert_close(made, plain_tome(tensors[0], tensors[1], tensors[2], grid, ratio))


def test_one_token_of_each_cell_is_merged_into():
    kept, others = bipartition(Grid(9, 5, 7), torch.device("cpu"))
    assert sorted([*kept.tolist(), *others.tolist()]) == list(range(35))
    cells = {(place // 7 // 2, place % 7 // 2) for place in kept.tolist()}
    assert len(kept) == 6 and cells == {(row, column) for row in range(2) for column in range(3)}


def test_merging_shortens_the_sequence_and_separating_restores_equal_tokens():
    k = torch.randn(2, 1, 58, 8)
    matching = match(k, BESIDE_TEXT, 0.5)
    assert matching.merge(k).shape[2] == 58 - 24
    same = torch.ones(2, 4, 58, 3).cumsum(dim=3)
    assert torch.equal(matching.unmerge(matching.merge(same)), same)
    assert match(k, BESIDE_TEXT, 0.95).count == 36  # those merged into always remain


def test_keys_masked_as_padding_stay_masked(case):
    grid, (q, k, v) = case
    tokens = k.shape[2]
    seen = torch.ones(2, tokens, dtype=torch.bool)
    seen[0, : grid.start], seen[1, grid.stop :] = False, False
    made = attend_merged(attend, q, k, v, Masks(key_mask=seen), None, grid=grid, ratio=0.5)
    outside = [torch.arange(tokens)[each] for each in seen]
    for i, kept in enumerate(outside):
        start = 0 if not seen[i, 0] else grid.start
        less = Grid(start, grid.height, grid.width)
        parts = [each[i : i + 1, :, kept] for each in (q, k, v)]
        expected = attend_merged(attend, parts[0], parts[1], parts[2], NO_MASKS, None, grid=less, ratio=0.5)
        torch.testing.assert_close(made[i : i + 1, :, kept], expected)


def test_a_bias_stays_dense():
    q = torch.randn(1, 1, 48, 8)
    masks = Masks(bias=torch.randn(1, 1, 48, 48))
    assert torch.equal(attend_merged(attend, q, q, q, masks, None, grid=ALONE, ratio=0.5), attend(q, q, q, masks, None))


def test_16_bits_are_merged_in_16_bits():
    tensors = [torch.randn(1, 2, 48, 8).bfloat16() for _ in range(3)]
    made = attend_merged(attend, tensors[0], tensors[1], tensors[2], NO_MASKS, None, grid=ALONE, ratio=0.5)
    assert made.dtype == torch.bfloat16 and made.isfinite().all()
