"""Memory layout of the output: dense, in q's order of heads and tokens."""

from torch import Tensor


def output_strides(q: Tensor) -> tuple[int, int, int, int]:
    """Strides for `(b, h, nq, d)`: tokens before heads if q is laid out that way, as linear layers leave it."""
    _, heads, tokens, head_dim = q.shape
    if q.stride(2) > q.stride(1):
        return heads * tokens * head_dim, head_dim, heads * head_dim, 1
    return heads * tokens * head_dim, tokens * head_dim, head_dim, 1


def empty_output(q: Tensor) -> Tensor:
    """Allocate the output `(b, h, nq, d)`, uninitialized."""
    return q.new_empty_strided(q.shape, output_strides(q))
