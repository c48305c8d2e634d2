"""Which implementation of attention runs, and the scope in which it does."""

import contextlib
from collections.abc import Iterator

from mezzotint.errors import UsageError
from mezzotint.protocol import Attention

AVAILABLE: tuple[Attention, ...] = ("sdpa", "reference")


def choose_attention(wanted: Attention) -> Attention:
    """The implementation to use; UsageError for one that this build lacks."""
    if wanted == "auto":
        return "sdpa"
    if wanted not in AVAILABLE:
        raise UsageError(f"attention {wanted!r} is not in this build; use auto, {' or '.join(AVAILABLE)}")
    return wanted


@contextlib.contextmanager
def attention_scope(chosen: Attention) -> Iterator[None]:
    """Run every attention inside by `chosen`; `reference` is softmax(q k^T / sqrt(d)) v in plain products."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    if chosen == "reference":
        with sdpa_kernel([SDPBackend.MATH]):
            yield
    else:
        yield
