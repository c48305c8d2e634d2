"""Benchmark a network of FLUX.1's shape whose weights are streamed to a GPU that may hold only part of them."""

from collections.abc import Sequence

from kernel_build.card.protocol import Row, Teller
from kernel_build.stream_bench import Shape, measure
from kernel_build.stream_rows import what_of

ITEM = "FLUX.1's shape"
_SMALL, _SMALL_LIMIT = Shape(width=64, heads=4, doubles=2, singles=4, image=24, words=8), 600_000


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row per copy rate."""
    del words
    if not teller.wants(ITEM):
        return
    for measured in measure("cpu", _SMALL, limit=_SMALL_LIMIT) if stub else measure("cuda:0"):
        teller.row(Row(item=what_of(measured), measured=measured))
    teller.row(Row(item=ITEM))
