"""Valid attention arguments, for tests in which no kernel dereferences the pointers."""

import ctypes
from typing import Any

from mezzotint_kernels.abi import AttentionArgs, AttentionBackwardArgs, BlockTableArgs, Dropout, Dtype
from mezzotint_kernels.linear_attention_abi import FeatureMap, LinearAttentionArgs


def attention_args(**changes: object) -> AttentionArgs:
    """Contiguous tensors of (batch 2, 4 heads or 2, tokens, 64); `changes` override fields."""
    batch, heads, kv_heads, nq, nk, d = 2, 4, 2, 100, 77, 64
    values: dict[str, object] = {
        "dtype": Dtype.FLOAT16,
        "batch": batch,
        "heads": heads,
        "kv_heads": kv_heads,
        "nq": nq,
        "nk": nk,
        "head_dim": d,
        "q": 0x10000,
        "k": 0x20000,
        "v": 0x30000,
        "out": 0x40000,
        "q_stride": (heads * nq * d, nq * d, d),
        "k_stride": (kv_heads * nk * d, nk * d, d),
        "v_stride": (kv_heads * nk * d, nk * d, d),
        "out_stride": (heads * nq * d, nq * d, d),
        "scale": 0.125,
    }
    return AttentionArgs(**values | changes)


def table_args(**changes: object) -> BlockTableArgs:
    """A table for the 100 queries of `attention_args`, with one for each head; `changes` override fields."""
    values: dict[str, object] = {
        "rows": 2,
        "block_q": 64,
        "block_k": 64,
        "row_ptr": 0xA0000,
        "col": 0xB0000,
        "tile": 0xC0000,
        "bits": 0xD0000,
        "stride_batch": 0,
        "stride_head": 2,
    }
    return BlockTableArgs(**values | changes)


def packed_attention_args(**changes: object) -> AttentionArgs:
    """Likewise, with contiguous strides for the sizes in `changes`."""
    sized = attention_args(**changes)
    d = sized.head_dim
    strides = {
        **dict.fromkeys(("q_stride", "out_stride"), (sized.heads * sized.nq * d, sized.nq * d, d)),
        **dict.fromkeys(("k_stride", "v_stride"), (sized.kv_heads * sized.nk * d, sized.nk * d, d)),
    }
    return attention_args(**strides | changes)


def backward_args(**changes: object) -> AttentionBackwardArgs:
    """Arguments of the backward pass with the tensors of `attention_args`; `changes` override fields."""
    forward = attention_args()
    names = {name for name, *_ in AttentionBackwardArgs._fields_} - {"size", "abi"}
    values = {name: getattr(forward, name) for name, *_ in AttentionArgs._fields_ if name in names}
    queries, keys = forward.q_stride, forward.k_stride
    values |= {"lse": 0x50000, "out_gradient": 0x60000, "dq": 0x70000, "dk": 0x80000, "dv": 0x90000}
    values |= {"out_gradient_stride": queries, "dq_stride": queries, "dk_stride": keys, "dv_stride": keys}
    return AttentionBackwardArgs(**values | changes)


def linear_attention_args(**changes: object) -> LinearAttentionArgs:
    """Arguments of linear attention with contiguous tensors like those of `packed_attention_args`."""
    sized = packed_attention_args(
        **{name: changes[name] for name in ("heads", "nq", "nk", "head_dim") if name in changes}
    )
    names = {name for name, *_ in LinearAttentionArgs._fields_} - {"size", "abi"}
    values = {name: getattr(sized, name) for name, *_ in AttentionArgs._fields_ if name in names}
    values |= {"map": FeatureMap.RELU, "features": sized.head_dim, "divided": 1, "epsilon": 1e-6}
    return LinearAttentionArgs(**values | changes)


def packed(sizes: dict[str, int]) -> dict[str, tuple[int, int, int]]:
    """Return strides of contiguous tensors."""
    d = sizes["head_dim"]
    queries, keys = ((sizes[heads], sizes[tokens]) for heads, tokens in (("heads", "nq"), ("kv_heads", "nk")))
    of = {"q": queries, "out": queries, "k": keys, "v": keys}
    return {f"{name}_stride": (heads * tokens * d, tokens * d, d) for name, (heads, tokens) in of.items()}


def dropout_of(problem: Any) -> ctypes.Structure:
    """Return the dropout of the library's arguments."""
    asked = problem.dropout
    return Dropout() if asked is None else Dropout(seed=asked.seed, offset=asked.offset, kept=asked.kept)
