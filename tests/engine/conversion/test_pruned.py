"""Names of tensors once blocks are removed."""

import pytest

from mezzotint.conversion.pruned import renumbered

GONE = ("blocks.1", "blocks.10", "single_blocks.0")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("blocks.0.attn.weight", "blocks.0.attn.weight"),
        ("blocks.1.attn.weight", None),
        ("blocks.2.attn.weight", "blocks.1.attn.weight"),
        ("blocks.10.attn.weight", None),
        ("blocks.11.attn.weight", "blocks.9.attn.weight"),
        ("single_blocks.0.weight", None),
        ("single_blocks.1.weight", "single_blocks.0.weight"),
        ("single_blocks.11.weight", "single_blocks.10.weight"),
        ("other.blocks.1.weight", "other.blocks.1.weight"),
        ("norm.weight", "norm.weight"),
    ],
)
def test_those_that_stay_are_counted_anew(name, wanted):
    assert renumbered(name, GONE) == wanted
