"""Attention by torch where it has no fused kernel: in parts, in memory that is linear in tokens."""

from unittest.mock import Mock

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from mezzotint.attention import sdpa
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.memory.footprints.live_memory import LiveMemory
from mezzotint.memory.footprints.shipped import shipped

TOKENS, HEAD = 96, 512


def inputs(heads=1):
    torch.manual_seed(1)
    return tuple(torch.randn(1, heads, TOKENS, HEAD) for _ in range(3))


@pytest.fixture
def room_for_seven(monkeypatch):
    monkeypatch.setattr(sdpa, "_SCORES", 7 * 4 * TOKENS)


@pytest.mark.parametrize(
    "masks",
    [
        Masks(),
        Masks(key_lengths=torch.tensor([50], dtype=torch.int32)),
        Masks(bias=torch.linspace(-3, 3, TOKENS * TOKENS).view(1, 1, TOKENS, TOKENS)),
        Masks(causal=True, bias=torch.linspace(-3, 3, TOKENS)[None, None, None].expand(1, 1, TOKENS, TOKENS)),
        Masks(causal=True),
    ],
    ids=["none", "lengths", "bias", "both", "torch's own causal"],
)
def test_parts_are_the_whole(room_for_seven, masks):
    q, k, v = inputs()
    with sdpa_kernel([SDPBackend.MATH]):
        made = attention_sdpa(q, k, v, masks)
    torch.testing.assert_close(made, attention_reference(q, k, v, masks)[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["sdxl", "flux", "sd1.5"])
def test_parts_take_no_more_than_plans_expect_of_a_decoder(name):
    """What follows attention in a decoder takes more, so that its peak is the planned one, at any size."""
    live = next(part for part in shipped(name).components if part.role == "vae").live
    tokens, channels, parts = 4096, 8, LiveMemory()
    q = torch.zeros(1, 1, tokens, channels)
    with sdpa_kernel([SDPBackend.MATH]), parts:
        attention_sdpa(q, q, q)
    assert 2 * sdpa._SCORES < parts.peak < 2.2 * sdpa._SCORES, "scores, and probabilities; all would be twice as much"
    for side in (512, 1024, 2048, 4096):
        positions = (side // 8) ** 2
        beside = 4 * 2 + 2 * 4  # bytes: x, q, k and v in 16 bits; k and v in 32
        assert 2.2 * sdpa._SCORES + beside * HEAD * positions < live.at(positions)


def parts_taken(monkeypatch):
    taken, torch_s = [], torch.nn.functional.scaled_dot_product_attention

    def counted(q, *more, **given):
        taken.append(q.shape[2])
        return torch_s(q, *more, **given)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", counted)
    return taken


def test_a_fused_kernel_takes_all_queries(room_for_seven, monkeypatch):
    taken = parts_taken(monkeypatch)
    attention_sdpa(*inputs())
    assert taken == [TOKENS]
    with sdpa_kernel([SDPBackend.MATH]):
        attention_sdpa(*inputs(heads=7))
    assert taken == [TOKENS, *(1,) * TOKENS], "the scores of all heads count"


def test_a_device_without_fused_kernels_takes_parts(room_for_seven, monkeypatch):
    missing = NotImplementedError("aten::_fused_sdp_choice is not implemented for this device")
    taken = parts_taken(monkeypatch)
    monkeypatch.setattr(torch, "_fused_sdp_choice", Mock(side_effect=missing))
    attention_sdpa(*inputs())
    assert taken == [*(7,) * 13, 5]
