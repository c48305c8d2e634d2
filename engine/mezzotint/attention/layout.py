"""How the output lies in memory: dense, in q's order of heads and tokens."""

from torch import Tensor


def output_strides(q: Tensor) -> tuple[int, int, int, int]:
    """Strides for `(b, h, nq, d)`: tokens before heads where q has them so, as linear layers make them."""
    _, heads, tokens, head_dim = q.shape
    if q.stride(2) > q.stride(1):
        return heads * tokens * head_dim, head_dim, heads * head_dim, 1
    return heads * tokens * head_dim, tokens * head_dim, head_dim, 1


def empty_output(q: Tensor) -> Tensor:
    """Room for `(b, h, nq, d)`; nothing is written."""
    return q.new_empty_strided(q.shape, output_strides(q))
