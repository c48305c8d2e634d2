"""Where networks have their blocks, as diffusers builds them."""

import diffusers
import pytest
from torch import nn

from mezzotint.acceleration.trunks import TRUNKS, attention_level


@pytest.mark.parametrize("name", TRUNKS)
def test_the_class_is_one_of_diffusers(name):
    assert issubclass(getattr(diffusers, name), nn.Module)


@pytest.mark.parametrize(
    ("blocks", "level"),
    [
        (["CrossAttnDownBlock2D", "DownBlock2D"], 0),
        (("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"), 1),
        (["DownBlock2D"], None),
        (None, None),
    ],
)
def test_the_first_level_with_attention(blocks, level):
    assert attention_level(blocks) == level
