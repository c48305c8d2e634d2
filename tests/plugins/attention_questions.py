"""Random attention inputs, drawn by hypothesis."""

import torch
from hypothesis import strategies as st

from mezzotint.attention.masks import Masks


@st.composite
def questions(draw, dtypes=(torch.float32,), head_dims=(1, 3, 8), aligned=False):
    """Draw q, k, v, masks and a scale, with any valid shapes, layouts and masks."""
    batch, kv_heads, groups = (draw(st.integers(1, 3)) for _ in range(3))
    nq, nk = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    dtype, head_dim = draw(st.sampled_from(dtypes)), draw(st.sampled_from(head_dims))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))

    def tensor(heads, tokens):
        whole = torch.randn(batch, tokens, heads, head_dim + (8 if aligned else 1), generator=generator).to(dtype)
        tokens_first = whole[..., :head_dim] if draw(st.booleans()) else whole[..., :head_dim].contiguous()
        return tokens_first.transpose(1, 2) if draw(st.booleans()) else tokens_first.transpose(1, 2).contiguous()

    def either(size):
        return size if draw(st.booleans()) else 1

    bias = torch.randn(either(batch), either(kv_heads * groups), either(nq), either(nk), generator=generator)
    masks = Masks(
        bias=draw(st.sampled_from([None, bias, bias.to(dtype)])),
        key_mask=draw(st.sampled_from([None, torch.rand(either(batch), nk, generator=generator) < 0.6])),
        key_lengths=draw(st.sampled_from([None, torch.randint(nk + 1, (batch,), generator=generator).int()])),
        causal=draw(st.booleans()),
    )
    scale = draw(st.sampled_from([None, 0.5]))
    return tensor(kv_heads * groups, nq), tensor(kv_heads, nk), tensor(kv_heads, nk), masks, scale
