"""The shapes: each group is there, and what is made small for a processor is of the same kind."""

import pytest

from mezzotint.benchmarks.attention_shapes import GROUPS, SHAPES


def test_the_groups():
    assert GROUPS == ("sdxl", "pixart", "flux", "sd3", "vae", "cross", "heads")
    assert len({(shape.group, shape.name) for shape in SHAPES}) == len(SHAPES)


def test_the_work_is_counted():
    flux = next(shape for shape in SHAPES if shape.group == "flux")
    assert flux.products == 4 * 24 * 4608**2 * 128  # 261 GFLOP
    assert flux.elements == 4 * 24 * 4608 * 128
    shared = next(shape for shape in SHAPES if shape.kv_heads)
    assert shared.elements == 2 * 96 * 4352 * 2 * (24 + 8)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_small_shape_is_of_the_same_kind(shape):
    small = shape.small()
    assert (small.group, small.name, small.head_dim, small.batch) == (
        shape.group,
        shape.name,
        shape.head_dim,
        shape.batch,
    )
    assert small.products < 1e9
    assert small.heads % small.heads_of_keys == 0
    assert (small.heads == small.heads_of_keys) == (shape.heads == shape.heads_of_keys)
    assert len(small.words) == len(shape.words) and all(count <= small.nk for count in small.words)
