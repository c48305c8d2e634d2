"""Values of --sparse-attention."""

import pytest

from mezzotint.values.speed import DENSITIES, MIN_TOKENS, SparseAttentionValue, density_at, tile_counts

SPARSE = SparseAttentionValue()


@pytest.mark.parametrize(
    ("words", "value", "setting"),
    [
        ("pooled", ("pooled", None), "pooled"),
        ("window", ("window", None), "window"),
        ("topk:0.4", ("topk", 0.4), "topk:0.4"),
        (" window : 1 ", ("window", 1.0), "window:1"),
        ("tiles:0.0625", ("tiles", 0.0625), "tiles:0.0625"),
        ("0.3", ("pooled", 0.3), "pooled:0.3"),
    ],
)
def test_read_written_and_read_again(words, value, setting):
    assert SPARSE.parse(words) == value
    assert SPARSE.to_setting(value) == setting and SPARSE.to_arguments(value) == [setting]
    assert SPARSE.read(setting) == value


def test_a_job_file_may_give_a_density_as_a_number():
    assert SPARSE.read(0.3) == ("pooled", 0.3) and SPARSE.read(1) == ("pooled", 1.0)


@pytest.mark.parametrize(
    "words", ["", "pooled:", "pooled:0", "topk:1.5", "window:-0.1", "pooled:nan", "todo", ":0.5", "0", True, None, [1]]
)
def test_others_are_refused_with_the_value_and_the_range(words):
    expected = r"is invalid; expected pooled, window, topk or tiles, .* above 0 and up to 1, such as pooled:0\.25"
    with pytest.raises(ValueError, match=expected):
        SPARSE.read(words)


@pytest.mark.parametrize(
    ("kind", "why"),
    [("linear", "softmax"), ("linformer", "projections"), ("bigbird", "random"), ("routing", "clusters"),
     ("swin", "edges")],
)  # fmt: skip
def test_kinds_that_need_training_are_refused_with_the_reason(kind, why):
    for words in (kind, f"{kind}:0.5"):
        with pytest.raises(ValueError, match=f"{kind} attention fails in models trained without it: .*{why}.*expected"):
            SPARSE.read(words)


@pytest.mark.parametrize("kind", DENSITIES)
def test_a_kinds_own_density_applies_from_a_number_of_tokens(kind):
    assert density_at((kind, None), MIN_TOKENS - 1) == 1.0
    assert density_at((kind, None), MIN_TOKENS) == DENSITIES[kind] < 1
    assert density_at((kind, 0.7), 1) == 0.7


@pytest.mark.parametrize(
    ("density", "size", "counts"),
    [(1, (64, 64), (1, 1)), (0.51, (64, 64), (1, 1)), (0.25, (64, 64), (2, 2)), (0.3, (64, 64), (2, 1)),
     (1 / 16, (64, 64), (4, 4)), (1 / 16, (16, 64), (2, 8)), (1 / 16, (64, 16), (8, 2)), (0.25, (15, 15), (1, 1)),
     (1e-9, (40, 17), (5, 2)), (1 / 3, (99, 8), (3, 1))],
)  # fmt: skip
def test_tiles_are_nearly_square_and_have_at_least_that_part_and_8_tokens_a_side(density, size, counts):
    assert tile_counts(density, *size) == counts
