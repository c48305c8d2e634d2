"""Every pattern is built for any size of block, and drawn."""

import numpy as np
import pytest
import torch
from PIL import Image

from mezzotint.benchmarks.architectures.patterns import PATTERNS, draw_patterns


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("block", [4, 16])
def test_every_token_sees_itself_and_not_everything(name, block):
    q = torch.randn(1, 2, 256, 8, generator=torch.Generator().manual_seed(0))
    seen = PATTERNS[name](q, q, block).seen()
    assert seen.shape[2:] == (256, 256)
    assert seen.any(dim=-1).all() and 0.01 < seen.float().mean() < 0.7
    if name not in ("top-k", "routing"):  # where what is near in content is seen
        assert seen.diagonal(dim1=-2, dim2=-1).all()


def test_a_picture_shows_the_first_query_of_local_attention_see_the_first_keys(tmp_path):
    path = tmp_path / "patterns.png"
    draw_patterns(path)
    image = np.asarray(Image.open(path).convert("RGB")).astype(int)
    row = image[16 + 20 + 1, 16 : 16 + 64 * 4 : 4]
    blue = np.abs(row - (46, 95, 140)).sum(axis=1) < 12
    assert blue.tolist() == [True] * 9 + [False] * 55
