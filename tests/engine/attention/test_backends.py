"""Attention: what can be chosen, and that the reference is another path to the same numbers."""

import pytest
import torch

from mezzotint.attention.backends import attention_scope, choose_attention
from mezzotint.errors import UsageError


def test_auto_is_resolved():
    assert choose_attention("auto") == "sdpa"


@pytest.mark.parametrize("name", ["flash", "int8"])
def test_what_this_build_lacks_is_refused_by_name(name):
    with pytest.raises(UsageError, match=f"{name}.*sdpa"):
        choose_attention(name)


def test_reference_is_softmax_written_out():
    q, k, v = torch.randn(3, 1, 2, 40, 16, generator=torch.Generator().manual_seed(0))
    with attention_scope("reference"):
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    written_out = torch.softmax(q @ k.transpose(-1, -2) / 4, dim=-1) @ v
    torch.testing.assert_close(out, written_out)


def test_the_scope_ends():
    with attention_scope("reference"):
        inside = torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.flash_sdp_enabled() and not inside
