"""The 8-bit kernels simulated in torch: the same numbers, and the same refusals."""

import pytest
import torch

from mezzotint.attention.blocks.patterns import bigbird_table
from mezzotint.attention.int8_reference import (
    half_sums_reference,
    int8_all_reference,
    int8_fp8_reference,
    int8_scores_reference,
)
from mezzotint.attention.masks import Masks
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.attention.simulated import SimulatedBackends
from mezzotint.protocol import KernelFallback

TOKENS = torch.randn(1, 2, 140, 32, generator=torch.Generator().manual_seed(0))
HIDDEN = Masks(key_mask=torch.arange(140)[None] > 40)


def session_of(asked, notices):
    return SimulatedBackends().session(asked, "cpu", "float32", notices)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("flash-fp16", half_sums_reference),
        ("int8", int8_scores_reference),
        ("int8-all", int8_all_reference),
        ("int8-fp8", int8_fp8_reference),
    ],
)
def test_it_attends_as_the_kernels_would(asked, wanted, notices):
    session = session_of(asked, notices)
    assert torch.equal(session.attend(TOKENS, TOKENS, TOKENS), wanted(TOKENS, TOKENS, TOKENS)[0])
    assert (session.ran, session.fallbacks, notices) == (asked, (), [])


def test_few_keys_are_attended_in_16_bits(notices):
    few = TOKENS[:, :, :77]
    out = session_of("int8-all", notices).attend(TOKENS, few, few)
    assert torch.equal(out, attention_sdpa(TOKENS, few, few))


@pytest.mark.parametrize("asked", ["int8-all", "int8-fp8"])
def test_masks_are_for_8_bit_scores(asked, notices):
    session = session_of(asked, notices)
    out = session.attend(TOKENS, TOKENS, TOKENS, HIDDEN)
    assert torch.equal(out, int8_scores_reference(TOKENS, TOKENS, TOKENS, HIDDEN)[0])
    assert session.fallbacks == (KernelFallback(reason=f"no {asked} kernel with masks", calls=1),)


def test_wide_heads_are_torch_s(notices):
    wide = torch.randn(1, 1, 140, 160)
    session = session_of("int8-all", notices)
    assert torch.equal(session.attend(wide, wide, wide), attention_sdpa(wide, wide, wide))
    assert "head size 160" in session.fallbacks[0].reason


def test_block_tables_are_torch_s(notices):
    session = session_of("int8", notices)
    out = session.attend(TOKENS, TOKENS, TOKENS, table=bigbird_table(140, 0, random_blocks=1))
    assert out.shape == TOKENS.shape and session.fallbacks[0].reason == "block tables are not simulated"


@pytest.mark.parametrize("asked", ["auto", "sdpa", "reference"])
def test_what_else_is_asked_is_as_always(asked, notices):
    assert session_of(asked, notices).used == ("sdpa" if asked == "auto" else asked)
