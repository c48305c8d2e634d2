"""GroupNorms of a job, where none can be replaced."""

import torch
from torch import nn

from mezzotint.normalization.session import GroupNormSession, has_norms


def test_without_kernels_nothing_changes():
    session, norm = GroupNormSession(None, print, [nn.GroupNorm(2, 8)]), nn.GroupNorm(2, 8)
    x = torch.randn(1, 8, 3, 3)
    with session.normalizing():
        assert session.in_layout(x) is x
        assert torch.equal(session.norm_silu(norm, nn.SiLU(), x), nn.functional.silu(norm(x)))
    assert (session.calls, session.ran, session.fallbacks) == (0, "torch", ())


def test_networks_with_norms():
    assert has_norms([None, nn.Sequential(nn.GroupNorm(1, 1))])
    assert not has_norms([None, nn.LayerNorm(1)])
